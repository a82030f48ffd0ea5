import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import Synchronization

/// Prints a line per event, keeps totals, and records video and sound.
final class EventPrinter: HeadUnitServerObserver {
  private struct Totals: Sendable {
    var video = VideoStreamStatistics()
    var violations = 0
    /// Apps whose connection broke off while they were registered.
    var vanished = 0
    /// Sessions that this has happened to, until it is known which side was the cause.
    var lost: Set<UInt8> = []
    /// Whether all apps have gone that are waited for.
    var isOver = false
    /// Sessions with a registered app.
    var registered: Set<UInt8> = []
    var departures: Departures

    init(awaiting awaitedCount: Int?) {
      departures = Departures(awaiting: awaitedCount)
    }
  }

  private let options: Options
  private let beginning = MonotonicClock.now
  private let totals: Mutex<Totals>
  private let recording: Recording?
  private let audioRecording: AudioRecording?

  /// Creates the files for video and sound.
  init(options: Options) throws(LinkError) {
    self.options = options
    totals = Mutex(Totals(awaiting: options.awaitedAppCount))
    recording = if let path = options.recording { try Recording(path: path) } else { nil }
    audioRecording = if let path = options.audioRecording { try AudioRecording(path: path) } else { nil }
  }

  func startRecordings() throws(LinkError) {
    try recording?.start()
    try audioRecording?.start()
  }

  /// Whether an app broke a rule, or has vanished.
  var hasFindings: Bool { totals.withLock { $0.violations > 0 || $0.vanished > 0 } }

  /// Whether all apps have gone that are waited for (`--app-exits`).
  var isOver: Bool { totals.withLock { $0.isOver } }

  var isAppRegistered: Bool { totals.withLock { !$0.registered.isEmpty } }

  /// The counters of all connections that have ended.
  var summary: String {
    let totals = totals.withLock { $0 }
    return "summary messages=\(totals.video.messages) bytes=\(totals.video.bytes) pictures=\(totals.video.pictures) "
      + "key-frames=\(totals.video.keyFrames) violations=\(totals.violations) vanished=\(totals.vanished)"
  }

  /// Waits until the recordings are written, or nothing more is read of them.
  func finishRecordings() {
    recording?.finish()
    audioRecording?.finish()
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    let hasVanished = note(event)
    defer { if hasVanished { printStamped("\(event.sessionID ?? 0) has vanished: no UnregisterAppInterface") } }
    guard let text = event.text else { return }
    let line = event.sessionID.map { "\($0) \(text)" } ?? text
    switch event {
    case .session(_, .violation): if options.isChecking { printStamped(line) }
    case .session(_, .driverInputWithoutEffect): printStamped(line)
    case .secondaryPortFailed, .stepSkipped, .stepsDropped: printStamped("warning: \(text)")
    // Asked and answered in the same moment.
    case .session(_, .videoStartRequested), .session(_, .audioStartRequested): break
    default: if !options.isQuiet { printStamped(line) }
    }
  }

  /// - Returns: whether an app has vanished.
  private func note(_ event: HeadUnitServerEvent) -> Bool {
    switch event {
    case .session(_, .videoData(let bytes)): recording?.append(bytes)
    case .session(_, .violation): if options.isChecking { totals.withLock { $0.violations &+= 1 } }
    case .session(let id, let event):
      noteRegistration(event, of: id)
      audioRecording?.note(event)
    case .disconnected(let id, let error, let statistics):
      let isChecking = options.isChecking
      let (isLast, hasVanished) = totals.withLock { totals in
        totals.video.add(statistics)
        // Without an error this side has closed the connection.
        let hasVanished = totals.lost.remove(id) != nil && error != nil && isChecking
        if hasVanished { totals.vanished &+= 1 }
        let isLast = totals.departures.noteEnd(id)
        if isLast { totals.isOver = true }
        return (isLast, hasVanished)
      }
      if isLast, options.leavesWithApp { kill(getpid(), SIGTERM) }
      return hasVanished
    default: break
    }
    return false
  }

  private func noteRegistration(_ event: HeadUnitSession.Event, of id: UInt8) {
    totals.withLock { totals in
      switch event {
      case .appRegistered:
        totals.registered.insert(id)
        totals.departures.noteRegistration(id)
      case .appUnregistered(let reason):
        totals.registered.remove(id)
        if reason == .transportLost { totals.lost.insert(id) }
      default: break
      }
    }
  }

  /// With the time since the beginning, in seconds.
  private func printStamped(_ line: String) {
    let milliseconds = Int((MonotonicClock.now - beginning) / .milliseconds(1))
    let fraction = "\(milliseconds % 1000)"
    printLine("[\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)] \(line)")
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

/// When the program ends by itself (`--app-exits`): connections without an app do not count.
struct Departures: Sendable {
  /// How many apps are waited for; nil for all.
  let awaitedCount: Int?
  /// Sessions that are connected, and in which an app was registered.
  private var sessions: Set<UInt8> = []
  private var count = 0

  init(awaiting awaitedCount: Int?) {
    self.awaitedCount = awaitedCount
  }

  mutating func noteRegistration(_ id: UInt8) {
    sessions.insert(id)
  }

  /// The connection of a session has ended.
  ///
  /// - Returns: whether the app was the last one to be waited for.
  mutating func noteEnd(_ id: UInt8) -> Bool {
    guard sessions.remove(id) != nil else { return false }
    count += 1
    return awaitedCount.map { count >= $0 } ?? sessions.isEmpty
  }
}
