import SDLMessages

/// A button on the screen that an app defines (`SoftButton` of the RPC specification).
struct SoftButton: Equatable, Sendable {
  /// What the head unit does by itself when it is pressed (`SystemAction`).
  enum Action: String, Sendable {
    /// Closes what the button is shown on.
    case close = "DEFAULT_ACTION"
    /// Closes it, and opens the app.
    case stealFocus = "STEAL_FOCUS"
    /// Nothing: it is shown for as long again.
    case keepContext = "KEEP_CONTEXT"
  }

  private static let ids = 0...65535
  /// In Unicode scalars.
  private static let longestText = 500

  let id: Int
  let text: String
  let action: Action

  private init?(json: JSONValue) {
    guard let json = json.object, let id = json["softButtonID"]?.integer, Self.ids.contains(id),
      let text = json["text"].map(\.string) ?? "", text.unicodeScalars.count <= Self.longestText,
      let action = json["systemAction"].map({ $0.string.flatMap(Action.init) }) ?? .close
    else { return nil }
    (self.id, self.text, self.action) = (id, text, action)
  }

  /// The buttons in a request.
  /// - Returns: nil if the request says nothing of buttons, so that those of a former request stay.
  /// - Throws: INVALID_DATA for a button that can't be read, and for more than the RPC specification allows.
  static func list(in request: RPCMessage) throws(RequestRefusal) -> [SoftButton]? {
    guard let value = request.parameters["softButtons"] else { return nil }
    guard let entries = value.array, entries.count <= maximumCount(in: request.function) else {
      throw RequestRefusal(code: .invalidData)
    }
    let buttons = entries.compactMap(SoftButton.init)
    guard buttons.count == entries.count else { throw RequestRefusal(code: .invalidData) }
    return buttons
  }

  private static func maximumCount(in function: FunctionID) -> Int {
    switch function {
    case .alert: 4
    case .subtleAlert: 2
    case .show, .scrollableMessage: 8
    case .showConstantTBT, .alertManeuver: 3
    case .updateTurnList: 1
    default: 0
    }
  }
}
