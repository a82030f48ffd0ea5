import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// The lines of a head unit's conversation with its apps: what its server reports.
package struct ServerConversation: Sendable {
  package let lines: ConversationWriter
  private let countsMedia: Bool

  /// - Parameter countsMedia: whether video and sound have a line a second; otherwise each message has one.
  package init(_ lines: ConversationWriter, countsMedia: Bool = true) {
    self.lines = lines
    self.countsMedia = countsMedia
  }

  /// - Parameter bulkFile: where the binary data of an RPC is.
  package func note(_ event: HeadUnitServerEvent, bulkFile: String? = nil) {
    let id = event.appNumber.map { Int($0) }
    switch event {
    case .session(let id, let event): note(event, of: Int(id), bulkFile)
    case .connected(_, let peer):
      lines.note("state", of: id, ["type": .string("connected"), "peer": .string(peer)])
    case .disconnected(let app, let error, _):
      let cause = error.map { JSONValue.string("\($0)") }
      lines.note("state", of: id, JSONObject(present: ["type": .string("disconnected"), "cause": cause]))
      lines.setName(nil, of: Int(app))
    case .tested(let outcome): lines.note("expect", outcome.members)
    case .stepExecuted(let step, _):
      let members: JSONObject = [
        "dir": .string("driver"), "type": .string("step"), "line": .integer(step.line), "text": .string(step.text),
      ]
      lines.note("event", of: id, members)
    case .transport, .ended: break
    case .refused, .secondaryTransportRefused, .secondaryPortFailed, .stepSkipped, .stepsDropped, .testEnded:
      if let text = event.text { lines.note("event", of: id, ["text": .string(text)]) }
    }
  }

  private func note(_ event: HeadUnitSession.Event, of id: Int, _ bulkFile: String?) {
    switch event {
    case .message(let message): lines.note(message, of: id, bulkFile: bulkFile)
    case .videoData(let bytes): noteMedia(.video, bytes.count, of: id)
    case .audioData(let bytes): noteMedia(.audio, bytes.count, of: id)
    case .videoMissed, .videoTimestamp: break
    default:
      guard let record = EventRecord(event) else { return }
      if case .appRegistered(let name, _, _, _, _) = event { lines.setName(name, of: id) }
      var members: JSONObject = ["type": .string(record.name)]
      if !record.members.isEmpty { members["params"] = .object(record.members) }
      if let direction = event.direction { members["dir"] = .string(direction) }
      if let text = event.text { members["text"] = .string(text) }
      lines.note(event.kind, of: id, members)
      if case .appUnregistered = event { lines.setName(nil, of: id) }
    }
  }

  private func noteMedia(_ service: ServiceType, _ byteCount: Int, of id: Int) {
    guard countsMedia else {
      return lines.note("media", of: id, ["service": .string("\(service)"), "bytes": .integer(byteCount)])
    }
    lines.noteMedia(service, bytes: byteCount, of: id)
  }
}

extension TestOutcome {
  /// Of its line, and of the answer to who has asked for it.
  package var members: JSONObject {
    JSONObject(present: [
      "dir": .string("test"), "text": .string(text), "line": line.map { .integer($0) },
      "result": .string(failure == nil ? "met" : "failed"), "cause": failure.map(JSONValue.string),
      "seconds": .number((time / .milliseconds(1)).rounded() / 1000),
    ])
  }
}

extension HeadUnitSession.Event {
  /// The states are what an app may do, and which services it has.
  fileprivate var kind: String {
    switch self {
    case .violation: "violation"
    case .appRegistered, .appUnregistered, .hmiStatusSent, .systemContextSent, .videoStarted, .videoStopped,
      .audioStarted, .audioStopped, .secondaryTransportRegistered, .secondaryTransportLost, .rpcProtected:
      "state"
    default: "event"
    }
  }

  fileprivate var direction: String? {
    switch self {
    case .driverInput, .driverInputWithoutEffect, .touchSent, .touchWithheld: "driver"
    default: nil
    }
  }
}
