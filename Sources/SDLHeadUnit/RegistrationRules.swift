import SDLMessages

extension HeadUnitSession {
  /// Whether RegisterAppInterface has all mandatory members, with the types and within the limits of MOBILE_API.xml.
  static func isValidRegistration(_ json: JSONObject) -> Bool {
    guard RegisterAppInterface(json: json).isComplete, json["isMediaApplication"]?.bool != nil,
      isLanguage(json["languageDesired"]), isLanguage(json["hmiDisplayLanguageDesired"]),
      let version = json["syncMsgVersion"]?.object,
      let major = version["majorVersion"]?.integer, (1...10).contains(major),
      let minor = version["minorVersion"]?.integer, (0...1000).contains(minor)
    else { return false }
    guard let types = json["appHMIType"] else { return true }
    guard let values = types.array, (1...100).contains(values.count) else { return false }
    // Unknown values of an enumeration make the whole request invalid.
    return values.allSatisfy { $0.string.flatMap(AppHMIType.init) != nil }
  }

  private static func isLanguage(_ value: JSONValue?) -> Bool {
    value?.string.map(languages.contains) ?? false
  }

  private static let languages: Set = [
    "EN-US", "ES-MX", "FR-CA", "DE-DE", "ES-ES", "EN-GB", "RU-RU", "TR-TR", "PL-PL", "FR-FR", "IT-IT", "SV-SE",
    "PT-PT", "NL-NL", "EN-AU", "ZH-CN", "ZH-TW", "JA-JP", "AR-SA", "KO-KR", "PT-BR", "CS-CZ", "DA-DK", "NO-NO",
    "NL-BE", "EL-GR", "HU-HU", "FI-FI", "SK-SK", "EN-IN", "TH-TH", "EN-SA", "HE-IL", "RO-RO", "UK-UA", "ID-ID",
    "VI-VN", "MS-MY", "HI-IN",
  ]
}
