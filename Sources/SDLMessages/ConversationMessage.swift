import SDLWire

/// One message between an app and a head unit, after it is decrypted or before it is encrypted.
package struct ConversationMessage: Equatable, Sendable {
  package enum Sender: Equatable, Sendable {
    case app
    case headUnit
  }

  package enum Content: Equatable, Sendable {
    case rpc(RPCMessage)
    /// A control frame of a service, with what its payload says: as JSON, and in words.
    case control(ControlFrame, ServiceType, parameters: JSONObject, details: String)
  }

  package var sender: Sender
  package var content: Content
  package var transport = TransportRole.primary
  package var isEncrypted = false

  package init(sender: Sender, content: Content, isEncrypted: Bool = false) {
    self.sender = sender
    self.content = content
    self.isEncrypted = isEncrypted
  }

  package init(_ control: ControlFrame, _ frame: Frame, by sender: Sender, on transport: TransportRole) {
    self.init(
      sender: sender,
      content: .control(
        control, frame.header.service, parameters: ConversationText.parameters(of: control, frame),
        details: ConversationText.details(of: control, frame)),
      isEncrypted: frame.header.isEncrypted)
    self.transport = transport
  }
}

extension ConversationMessage {
  /// The kind of its line in a log.
  package var kind: String { if case .rpc = content { "rpc" } else { "frame" } }

  /// The members of its line in a log, without the binary data of an RPC.
  package var members: JSONObject {
    var members: JSONObject = [
      "dir": .string(sender == .app ? "app→hu" : "hu→app"), "transport": .string("\(transport)"),
      "encrypted": .bool(isEncrypted),
    ]
    switch content {
    case .control(let control, let service, let parameters, let details):
      members["type"] = .string(control.name)
      members["service"] = .string("\(service)")
      if !parameters.isEmpty { members["params"] = .object(parameters) }
      if !details.isEmpty { members["text"] = .string(details) }
    case .rpc(let rpc):
      members["type"] = .string("\(rpc.type)")
      members["service"] = .string("\(rpc.service)")
      members["function"] = .string(rpc.function.description)
      members["params"] = .object(rpc.parameters)
      if rpc.type != .notification { members["correlationID"] = .integer(Int(rpc.correlationID)) }
      if rpc.type == .response {
        let result = RPCResult(json: rpc.parameters)
        members["result"] = .string(result.resultCode)
        members["cause"] = result.info.map(JSONValue.string)
      }
    }
    return members
  }
}

extension ConversationMessage {
  /// Reads the ``members`` of a line in a log; nil for a line that has no message.
  package init?(members: JSONObject) {
    let senders: [String: Sender] = ["app→hu": .app, "hu→app": .headUnit]
    guard let sender = members["dir"]?.string.flatMap({ senders[$0] }), let name = members["type"]?.string else {
      return nil
    }
    let service = ServiceType.allCases.first { "\($0)" == members["service"]?.string }
    let parameters = members["params"]?.object ?? [:]
    let content: Content
    switch members["kind"]?.string {
    case "rpc":
      guard let type = RPCType.allCases.first(where: { "\($0)" == name }),
        let function = members["function"]?.string.flatMap(FunctionID.init(name:))
      else { return nil }
      content = .rpc(
        RPCMessage(
          type: type, function: function,
          correlationID: members["correlationID"]?.integer.flatMap(Int32.init(exactly:)) ?? 0, parameters: parameters))
    case "frame":
      guard let control = ControlFrame.allCases.first(where: { $0.name == name }), let service else { return nil }
      content = .control(control, service, parameters: parameters, details: members["text"]?.string ?? "")
    default: return nil
    }
    self.init(sender: sender, content: content, isEncrypted: members["encrypted"]?.bool ?? false)
    transport = TransportRole.allCases.first { "\($0)" == members["transport"]?.string } ?? .primary
  }
}
