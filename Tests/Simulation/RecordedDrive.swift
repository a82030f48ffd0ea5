import Foundation
import SDLMessages
import SDLWire

@testable import SDLHeadUnit

/// A drive that was recorded (`--log`, `conversation-log`), as a scenario: what its driver, its head unit and its road did,
/// at their times, to an app with video.
extension Scenario {
  /// Nil for bytes that are neither a scenario nor a recording.
  init?(_ data: Data, isRecording: Bool) {
    guard isRecording else {
      guard let scenario = try? JSONDecoder().decode(Scenario.self, from: data) else { return nil }
      self = scenario
      return
    }
    guard let recording = try? ConversationRecording(parsing: [UInt8](data)) else { return nil }
    self.init(recording)
  }

  private init(_ recording: ConversationRecording) {
    self.init(seed: 1)
    preset = HeadUnitPreset.standard.rawValue
    (commands, carEncrypts, requiresEncryption, offersSecondary) = ([], false, false, false)
    conditions = SimulatedNetwork.Conditions()
    var plan = SimulatedApp.Plan()
    plan.video = SimulatedVideo.Plan()
    apps = [plan]
    var former = recording.entries.first?.time ?? .zero
    steps = recording.entries.flatMap { entry -> [Step] in
      guard let action = Self.action(entry) else { return [] }
      defer { former = entry.time }
      return [Step(after: Int((entry.time - former) / .milliseconds(1)), action: "car \(action)")]
    }
  }

  /// As a command of the head unit; nil for what it does by itself.
  private static func action(_ entry: ConversationRecording.Entry) -> String? {
    guard let message = entry.message else { return "cut" }
    if message.sender == .headUnit, let control = message.control, control.frame == .endService {
      return control.service == .video ? "end-video" : control.service == .audio ? "end-audio" : nil
    }
    guard let rpc = message.notification else { return nil }
    let members = rpc.parameters
    switch rpc.function {
    case .onHMIStatus:
      let status = HMIStatus(json: members)
      guard let level = status.level, level != HMILevel.none, status.systemContext == .main else { return nil }
      return "level \(word(level.rawValue)) \(word(status.videoStreamingState.rawValue)) "
        + word(status.audioStreamingState.rawValue)
    case .onTouchEvent:
      guard let kind = members["type"]?.string, let finger = members["event"]?.array?.first?.object,
        let id = finger["id"]?.integer, let point = finger["c"]?.array?.last?.object, let x = point["x"]?.integer,
        let y = point["y"]?.integer
      else { return nil }
      return "touch \(word(kind)) \(id) \(x) \(y)"
    case .onDriverDistraction: return "distraction \(members["state"]?.string == "DD_ON" ? "on" : "off")"
    case .onLanguageChange: return members["language"]?.string.map { "language \($0)" }
    case .onSystemCapabilityUpdated:
      let video = members["systemCapability"]?.object?["videoStreamingCapability"]?.object
      let size = video.flatMap { VideoStreamingCapability(json: $0).preferredResolution }
      return size.map { "resize \($0.text)" }
    case .onAppInterfaceUnregistered: return members["reason"]?.string.map { "unregister \(word($0))" }
    default: return nil
    }
  }

  /// "NOT_AUDIBLE" as in commands.
  private static func word(_ constant: String) -> String {
    String(constant.lowercased().map { $0 == "_" ? "-" : $0 })
  }
}
