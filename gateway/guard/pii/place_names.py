"""Countries, states and large cities: the places that are told by their name alone.

Rules this module keeps:
- A name that is also a plain word or a frequent given name (Turkey, Jordan, Georgia, Chad, Nice,
  Reading) is left out here: only the words around it can tell.
- Cities of about two million and more, and capitals; a village is told by the words around it.

Source: ISO 3166-1; ISO 3166-2 for the states of the United States, Canada and Australia; United
Nations, World Urbanization Prospects 2018.
"""

_COUNTRIES = (
    "Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Aruba|Australia|Austria"
    "|Azerbaijan|Bahamas|Bahrain|Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bermuda|Bhutan"
    "|Bolivia|Bosnia(?: and Herzegovina)?|Botswana|Brazil|Brunei|Bulgaria|Burkina Faso|Burundi"
    "|Cambodia|Cameroon|Canada|Cape Verde|Central African Republic|Chile|China|Colombia|Comoros"
    "|Congo|Costa Rica|Croatia|Cuba|Curaçao|Cyprus|Czech Republic|Czechia|Côte d'Ivoire|Denmark"
    "|Djibouti|Dominica|Dominican Republic|Ecuador|Egypt|El Salvador|Equatorial Guinea|Eritrea"
    "|Estonia|Eswatini|Ethiopia|Faroe Islands|Fiji|Finland|France|French Guiana|Gabon|Gambia"
    "|Germany|Ghana|Gibraltar|Greece|Greenland|Grenada|Guadeloupe|Guatemala|Guernsey|Guinea-Bissau"
    "|Guinea|Guyana|Haiti|Honduras|Hong Kong|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland"
    "|Isle of Man|Israel|Italy|Ivory Coast|Jamaica|Japan|Kazakhstan|Kenya|Kiribati|Kosovo|Kuwait"
    "|Kyrgyzstan|Laos|Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg"
    "|Macao|Macau|Madagascar|Malawi|Malaysia|Maldives|Mali|Malta|Martinique|Mauritania|Mauritius"
    "|Mexico|Micronesia|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|Myanmar|Namibia"
    "|Nauru|Nepal|Netherlands|New Caledonia|New Zealand|Nicaragua|Nigeria|Niger|North Korea"
    "|North Macedonia|Norway|Oman|Pakistan|Palau|Palestine|Panama|Papua New Guinea|Paraguay|Peru"
    "|Philippines|Poland|Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Samoa|San Marino"
    "|Saudi Arabia|Senegal|Serbia|Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia"
    "|Solomon Islands|Somalia|South Africa|South Korea|South Sudan|Spain|Sri Lanka|Sudan|Suriname"
    "|Swaziland|Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Timor-Leste|Togo|Tonga"
    "|Trinidad(?: and Tobago)?|Tunisia|Türkiye|Turkmenistan|Tuvalu|Uganda|Ukraine"
    "|United Arab Emirates|United Kingdom|United States(?: of America)?|Uruguay|Uzbekistan|Vanuatu"
    "|Vatican|Venezuela|Viet ?nam|Yemen|Zambia|Zimbabwe|England|Scotland|Wales|Northern Ireland"
    "|Great Britain"
)
_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Hawaii|Idaho"
    "|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan"
    "|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico"
    "|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island"
    "|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|West Virginia|Wisconsin|Wyoming"
    "|Alberta|British Columbia|Manitoba|New Brunswick|Newfoundland|Nova Scotia|Ontario|Quebec"
    "|Québec"
    "|Saskatchewan|Yukon|New South Wales|Queensland|Tasmania"
)
_CITIES = (
    "Abidjan|Abu Dhabi|Accra|Addis Ababa|Ahmedabad|Algiers|Amman|Amsterdam|Ankara|Athens|Atlanta"
    "|Auckland|Baghdad|Baku|Bangalore|Bengaluru|Bangkok|Barcelona|Beijing|Beirut|Belgrade|Berlin"
    "|Birmingham|Bogotá|Bogota|Boston|Brasília|Bratislava|Brisbane|Brussels|Bucharest|Budapest"
    "|Buenos Aires|Cairo|Calgary|Cape Town|Caracas|Casablanca|Chengdu|Chennai|Chicago|Chongqing"
    "|Cologne|Copenhagen|Dakar|Dallas|Damascus|Dar es Salaam|Delhi|Denver|Detroit|Dhaka|Doha|Dubai"
    "|Dublin|Durban|Edinburgh|Frankfurt|Geneva|Glasgow|Guangzhou|Guadalajara|Hamburg|Hangzhou|Hanoi"
    "|Harbin|Havana|Helsinki|Ho Chi Minh City|Houston|Hyderabad|Islamabad|Istanbul|Jakarta"
    "|Jerusalem|Johannesburg|Kabul|Karachi|Kathmandu|Kigali|Kinshasa|Kolkata|Kuala Lumpur|Kyiv|Kiev"
    "|Kyoto|Lagos|Lahore|Las Vegas|Leeds|Lima|Lisbon|Liverpool|Ljubljana|London|Los Angeles|Luanda"
    "|Lyon|Madrid|Manchester|Manila|Marseille|Medellín|Melbourne|Mexico City|Miami|Milan"
    "|Minneapolis|Minsk|Montevideo|Montreal|Montréal|Moscow|Mumbai|Munich|Nagoya|Nairobi|Nanjing"
    "|New Delhi|New Orleans|Osaka|Oslo|Ottawa|Paris|Perth|Philadelphia|Phnom Penh|Porto|Prague"
    "|Pretoria|Pune|Pyongyang|Quito|Reykjavik|Riga|Rio de Janeiro|Riyadh|Rome|Rotterdam"
    "|San Francisco|San Diego|San Antonio|San Jose|Santiago|São Paulo|Sao Paulo|Sarajevo|Seattle"
    "|Seoul|Seville|Shanghai|Shenzhen|Skopje|Sofia|Stockholm|Stuttgart|Surat|Suzhou|Sydney|Taipei"
    "|Tallinn|Tashkent|Tbilisi|Tehran|Tel Aviv|Tianjin|Tirana|Tokyo|Toronto|Tripoli|Tunis|Turin"
    "|Ulaanbaatar|Valencia|Vancouver|Vienna|Vilnius|Warsaw|Washington,? D\\.?C\\.?|Wellington"
    "|Wuhan|Xi'an|Yangon|Yokohama|Zagreb|Zurich|Zürich"
)

PLACES = f"{_COUNTRIES}|{_STATES}|{_CITIES}"
"""Alternatives of a pattern; case matters."""

NATIONALITIES = (
    "Afghan|African|Albanian|Algerian|American|Arab|Argentinian|Argentine|Armenian|Asian|Australian"
    "|Austrian|Azerbaijani|Bangladeshi|Belarusian|Belgian|Bolivian|Bosnian|Brazilian|British"
    "|Bulgarian|Burmese|Cambodian|Canadian|Chilean|Chinese|Colombian|Croatian|Cuban|Cypriot|Czech"
    "|Danish|Dutch|Ecuadorian|Egyptian|Emirati|English|Estonian|Ethiopian|European|Filipino|Finnish"
    "|Flemish|French|Georgian|German|Ghanaian|Greek|Guatemalan|Haitian|Hungarian|Icelandic|Indian"
    "|Indonesian|Iranian|Iraqi|Irish|Israeli|Italian|Jamaican|Japanese|Jordanian|Kazakh|Kenyan"
    "|Korean|Kurdish|Kuwaiti|Latvian|Lebanese|Libyan|Lithuanian|Malaysian|Maltese|Mexican|Moldovan"
    "|Mongolian|Moroccan|Nepalese|Nepali|Nigerian|Norwegian|Pakistani|Palestinian|Peruvian"
    "|Philippine|Polish|Portuguese|Puerto Rican|Qatari|Romanian|Russian|Rwandan|Saudi|Scottish"
    "|Senegalese|Serbian|Singaporean|Slovak|Slovenian|Somali|South African|Spanish|Sri Lankan"
    "|Sudanese|Swedish|Swiss|Syrian|Taiwanese|Tanzanian|Thai|Tibetan|Tunisian|Turkish|Ugandan"
    "|Ukrainian|Uruguayan|Uyghur|Uzbek|Venezuelan|Vietnamese|Welsh|Yemeni|Zambian|Zimbabwean"
)
"""Alternatives of a pattern; case matters."""
