import SDLMessages

extension HeadUnitSession {
  /// The result of a registration that is accepted. SDL Core tells one fault alone, in this order.
  func registrationResult(of parameters: JSONObject) -> ResultCode {
    let languages = ["languageDesired", "hmiDisplayLanguageDesired"].map { parameters[$0]?.string }
    if languages.contains(where: { $0 != configuration.language }) { return .wrongLanguage }
    guard requestWarning == nil, parameters["hashID"] != nil else { return .success }
    return savedApp(for: parameters) == nil ? .resumeFailed : .success
  }

  /// What the app goes on with, if it names the right hash.
  func savedApp(for parameters: JSONObject) -> SavedApp? {
    let request = RegisterAppInterface(json: parameters)
    let id = (request.fullAppID ?? request.appID).lowercased()
    return savedApps.first { $0.id.lowercased() == id && $0.hash == parameters["hashID"]?.string }
  }

  /// The words by which the driver calls the app.
  static func spokenNames(in parameters: JSONObject) -> [String] {
    (parameters["vrSynonyms"]?.array ?? []).compactMap(\.string)
  }
}
