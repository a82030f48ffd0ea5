import SDLMessages
import SDLWire

/// An event or an RPC under the name by which tests expect it, with its members.
package struct EventRecord: Equatable, Sendable {
  /// Such as "registered", "Show", or "Show/response".
  package var name: String
  package var members: JSONObject = [:]

  /// Creates a record.
  package init(_ name: String, _ members: JSONObject = [:]) {
    self.name = name
    self.members = members
  }

  /// An RPC by either side.
  package init(_ message: RPCMessage) {
    let suffix = message.type == .response ? EventPattern.responseSuffix : ""
    self.init(message.function.description + suffix, message.parameters)
  }

  /// The most Unicode scalars of members in a ``text``.
  private static let longestMembers = 200

  /// The name and the members, for people.
  package var text: String {
    let json = String(decoding: members.serialized, as: UTF8.self)
    return name + (members.isEmpty ? "" : " \(json.printable(limit: Self.longestMembers))")
  }
}

extension EventRecord {
  /// Nil for data, which is counted, and for control frames.
  package init?(_ event: HeadUnitSession.Event) {
    if case .message(let message) = event {
      guard case .rpc(let rpc) = message.content else { return nil }
      self.init(rpc)
    } else if let name = HeadUnitScript.Event(event) {
      self.init(name.rawValue, event.members)
    } else {
      return nil
    }
  }
}

extension HeadUnitSession.Event {
  /// What tests can compare, and logs show.
  fileprivate var members: JSONObject {
    switch self {
    case .appRegistered(let name, let id, let types, let version, let code):
      [
        "name": .string(name), "id": .string(id), "types": .array(types.map { .string($0.rawValue) }),
        "protocolVersion": .string("\(version)"), "resultCode": .string(code.rawValue),
      ]
    case .registrationRefused(let name, let id, let code):
      ["name": .string(name), "id": .string(id), "resultCode": .string(code.rawValue)]
    case .hmiStatusSent(let status), .systemContextSent(let status), .appHMIStatus(let status): status.json
    case .touchSent(let touch): touch.json
    case .driverInput(let input): ["input": .string(input.description)]
    case .driverInputWithoutEffect(let input, let fault):
      ["input": .string(input.description), "reason": .string(fault.description)]
    case .buttonsSubscribed(let names): ["names": .array(names.sorted().map(JSONValue.string))]
    case .interactionShown(let function, let time, let inputs):
      [
        "function": .string(function.description), "seconds": .number(time / .seconds(1)),
        "inputs": .array(inputs.map { .string($0.description) }),
      ]
    case .interactionEnded(let function, let code):
      ["function": .string(function.description), "resultCode": .string(code.rawValue)]
    case .textShown(let function, let texts):
      ["function": .string(function.description), "texts": .array(texts.map(JSONValue.string))]
    case .nameChanged(let name): ["name": .string(name)]
    case .iconSet(let name, let count): ["name": .string(name), "bytes": .integer(count)]
    case .systemRequestAnswered(let type, let count): ["requestType": .string(type), "bytes": .integer(count)]
    case .videoStartRequested(let parameters): parameters.members
    case .videoStarted(let parameters, let transport): parameters.members.on(transport)
    case .videoRefused(let rejection), .audioRefused(let rejection): rejection.members
    case .videoDataStopped(let time): ["seconds": .number(time / .seconds(1))]
    case .videoStopped(let reason): ["reason": .string(reason.description)]
    case .audioStarted(let format, let transport): ["format": .string("\(format)")].on(transport)
    case .audioStopped(let reason, let statistics):
      [
        "reason": .string(reason.description), "messages": .integer(Int(clamping: statistics.messages)),
        "samples": .integer(Int(clamping: statistics.samples)),
      ]
    case .appUnregistered(let reason): ["reason": .string(reason.description)]
    case .secondaryTransportRefused(let reason): ["reason": .string(reason.rawValue)]
    case .secured(let summary):
      ["version": .string("\(summary.protocolVersion)"), "cipher": .string("\(summary.cipher)")]
    case .handshakeFailed(let reason): ["reason": .string(reason)]
    case .violation(let violation): ["text": .string("\(violation)")]
    case .appCapability(let capability): capability.json
    case .hapticRectangles(let rectangles): ["rectangles": .array(rectangles.map { .string($0.description) })]
    case .message, .touchWithheld, .audioStartRequested, .audioInClear, .secondaryTransportRegistered,
      .secondaryTransportLost, .rpcProtected, .capabilityUpdateDeferred, .videoData, .videoTimestamp, .videoMissed,
      .audioData:
      [:]
    }
  }
}

extension VideoServiceParameters {
  fileprivate var members: JSONObject {
    JSONObject(present: [
      "width": width.map { .integer(Int($0)) }, "height": height.map { .integer(Int($0)) },
      "videoCodec": videoCodec.map(JSONValue.string), "videoProtocol": videoProtocol.map(JSONValue.string),
    ])
  }
}

extension ServiceRejection {
  fileprivate var members: JSONObject {
    JSONObject(present: [
      "rejectedParams": .array(rejectedParameters.map(JSONValue.string)), "reason": reason.map(JSONValue.string),
    ])
  }
}

extension [String: JSONValue] {
  fileprivate func on(_ transport: TransportRole) -> JSONObject {
    merging(["transport": .string("\(transport)")]) { $1 }
  }
}
