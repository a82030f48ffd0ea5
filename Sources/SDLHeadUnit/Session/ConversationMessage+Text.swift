import SDLMessages
import SDLWire

extension ConversationMessage {
  /// The most Unicode scalars of members in a ``text``.
  private static let longestMembers = 300

  /// A line for the log: what the app asks or shows, and what it is refused; nil for what usually does not matter.
  package var text: String? {
    guard case .rpc(let message) = content else { return nil }
    switch (sender, message.type) {
    case (.app, .request), (.app, .notification):
      let shown = message.function == .show ? Self.shown(by: message.parameters) : nil
      let members = shown ?? String(decoding: message.parameters.serialized, as: UTF8.self)
      return message.function.description
        + (message.parameters.isEmpty ? "" : " \(members.printable(limit: Self.longestMembers))")
        + (message.bulk.isEmpty ? "" : " and \(message.bulk.count) bytes")
    case (.headUnit, .response):
      let result = RPCResult(json: message.parameters)
      guard !result.success else { return nil }
      return "\(message.function) refused: \(result.resultCode)" + (result.info.map { ", \($0)" } ?? "")
    default: return nil
    }
  }

  /// What a person sees: the texts, then the rest of a template's members; nil if there are no texts.
  private static func shown(by parameters: JSONObject) -> String? {
    let texts = (1...4).compactMap { parameters["mainField\($0)"]?.string }
    guard !texts.isEmpty else { return nil }
    let buttons = (parameters["softButtons"]?.array ?? []).map { $0.object?["text"]?.string ?? "(picture)" }
    return texts.map(\.quoted).joined(separator: " ")
      + (buttons.isEmpty ? "" : " | soft buttons: \(buttons.joined(separator: ", "))")
  }
}
