import Glibc
import SDLHeadUnit
import SDLLink
import Synchronization

/// Prints a line per event, keeps totals, and records video and sound.
final class EventPrinter: HeadUnitServerObserver {
  private struct Totals: Sendable {
    var video = VideoStreamStatistics()
    var violations = 0
    /// Sessions with a registered app.
    var registered: Set<UInt8> = []
  }

  private let options: Options
  private let totals = Mutex(Totals())
  private let recording: Recording?
  private let audioRecording: AudioRecording?

  /// Creates the files for video and sound.
  init(options: Options) throws(LinkError) {
    self.options = options
    recording = if let path = options.recording { try Recording(path: path) } else { nil }
    audioRecording = if let path = options.audioRecording { try AudioRecording(path: path) } else { nil }
  }

  var hasViolations: Bool { totals.withLock { $0.violations > 0 } }

  var isAppRegistered: Bool { totals.withLock { !$0.registered.isEmpty } }

  /// The counters of all connections that have ended.
  var summary: String {
    let totals = totals.withLock { $0 }
    return "summary messages=\(totals.video.messages) bytes=\(totals.video.bytes) pictures=\(totals.video.pictures) "
      + "key-frames=\(totals.video.keyFrames) violations=\(totals.violations)"
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    switch event {
    case .connected(let id, let peer): say("\(id) connected \(peer)")
    case .refused(let peer): say("refused \(peer)")
    case .secondaryTransportRefused(let peer, let reason):
      say("secondary transport of \(peer) refused: \(reason.rawValue)")
    case .secondaryPortFailed(let error):
      printLine("warning: the port for secondary transports stays as it was: \(error)")
    case .session(_, .videoData(let bytes)): recording?.append(bytes)
    case .session(let id, .violation(let violation)):
      guard options.isChecking else { return }
      totals.withLock { $0.violations &+= 1 }
      printLine("\(id) violation: \(violation)")
    case .session(let id, .driverInputWithoutEffect(let input, let fault)):
      printLine("\(id) without effect: \(input), because \(fault)")
    case .session(let id, let event):
      noteRegistration(event, of: id)
      audioRecording?.note(event)
      if let text = event.text { say("\(id) \(text)") }
    case .disconnected(let id, let error, let statistics):
      totals.withLock { $0.video.add(statistics) }
      say("\(id) disconnected\(error.map { ": \($0)" } ?? "")")
      if options.leavesWithApp { kill(getpid(), SIGTERM) }
    case .carriedOut(let step, let id): say("\(id.map { "\($0) " } ?? "")script, line \(step.line): \(step.text)")
    case .leftOut(let step, let id):
      let reason = id.map { "app \($0) is gone" } ?? "no app is registered"
      printLine("warning: script, line \(step.line) without effect, \(reason): \(step.text)")
    case .stepsDropped:
      let limit = HeadUnitScriptRun.maximumWaitingCount
      printLine("warning: steps of the script are dropped, because \(limit) are waiting already")
    case .transport, .ended: break
    }
  }

  private func noteRegistration(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .appRegistered: totals.withLock { _ = $0.registered.insert(id) }
    case .appUnregistered: totals.withLock { _ = $0.registered.remove(id) }
    default: break
    }
  }

  private func say(_ line: String) {
    if !options.isQuiet { printLine(line) }
  }
}

extension VideoStreamStatistics {
  fileprivate mutating func add(_ other: VideoStreamStatistics) {
    messages &+= other.messages
    bytes &+= other.bytes
    pictures &+= other.pictures
    keyFrames &+= other.keyFrames
  }
}
