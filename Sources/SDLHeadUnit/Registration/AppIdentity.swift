import SDLMessages

/// The identity of an app among those of a phone.
package struct AppIdentity: Equatable, Sendable {
  /// The full id, if the app gives one.
  package let id: String
  package let name: String
  /// Further names by which the driver can call it (`vrSynonyms`).
  package let spokenNames: [String]
  /// In lower case, like all of these: made once, because each request for other names is compared with every app.
  private let comparableID: String
  private let comparableName: String
  private let comparableSpokenNames: Set<String>

  /// For the `info` of DUPLICATE_NAME.
  static let duplicateName = "Another app has this name, or the driver calls it so"

  package init(id: String, name: String, spokenNames: [String] = []) {
    self.id = id
    self.name = name
    self.spokenNames = spokenNames
    comparableID = id.lowercased()
    comparableName = name.lowercased()
    comparableSpokenNames = Set(spokenNames.map { $0.lowercased() })
  }

  init(_ request: RegisterAppInterface, spokenNames: [String] = []) {
    self.init(id: request.fullAppID ?? request.appID, name: request.appName, spokenNames: spokenNames)
  }

  /// The words by which the driver can call an app; nil if the request has none.
  static func spokenNames(in parameters: JSONObject) -> [String]? {
    parameters["vrSynonyms"].map { ($0.array ?? []).compactMap(\.string) }
  }

  /// Why SDL Core does not register an app beside others of the same phone; nil if it does. It ignores case.
  func conflict(with others: [AppIdentity]) -> ResultCode? {
    if others.contains(where: { $0.comparableID == comparableID }) { return .applicationRegisteredAlready }
    let isNameTaken = others.contains { other in
      // Two apps may have a spoken name in common.
      other.comparableName == comparableName || other.comparableSpokenNames.contains(comparableName)
        || comparableSpokenNames.contains(other.comparableName)
    }
    return isNameTaken ? .duplicateName : nil
  }
}

/// The state that SDL Core keeps for an app whose connection has broken. If the app names the hash in its next
/// registration, it is restored; the icon stays in any case.
package struct SavedApp: Sendable {
  package let id: String
  /// Nil if there is only the icon.
  let hash: String?
  let hasIcon: Bool
  /// The level that the driver chose.
  let status: HMIStatus
  let menu: AppMenu
  let subscribedButtons: Set<String>
  let subscribedVehicleData: Set<String>
}
