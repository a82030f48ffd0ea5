import Glibc
import HTTPServe
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Synchronization

/// Prints a line per event, keeps totals and the results of tests, and records video and sound.
final class EventPrinter: HeadUnitServerObserver {
  private struct Totals: Sendable {
    var video = VideoStreamStatistics()
    var violations = 0
    /// Apps whose connection broke off while they were registered.
    var vanished = 0
    /// Sessions that this has happened to, until it is known which side was the cause.
    var lost: Set<UInt8> = []
    /// Whether all apps have gone that are waited for, or the test has ended.
    var isOver = false
    var hasAppCome = false
    var report = TestReport()
    /// The last lines of the log, for the report of a failure.
    var recent: [String] = []
    var connected: Set<UInt8> = []
    /// Sessions with a registered app.
    var registered: Set<UInt8> = []
    var hasProgramEnded = false
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
  private let log: ConversationLog?
  /// Nil where no picture is looked at.
  private let pictures: PictureTaker?
  private let control: ControlInterface?
  /// Of `--junit`.
  private let reportFile: Int32?

  /// What a failure in a report shows.
  private static let mostRecentLines = 20

  /// Creates the files for video and sound.
  init(options: Options) throws(LinkError) {
    self.options = options
    totals = Mutex(Totals(awaiting: options.awaitedAppCount))
    recording = if let path = options.recording { try Recording(path: path) } else { nil }
    audioRecording = if let path = options.audioRecording { try AudioRecording(path: path) } else { nil }
    reportFile = try options.report.map { path throws(LinkError) in
      let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
      return descriptor
    }
    let isControlled = options.isControlled
    log =
      if options.log != nil || isControlled {
        ConversationLog(
          ConversationWriter(
            try options.log?.open(), isBlank: options.log?.isBlank == true, keepsRecent: isControlled, since: beginning),
          countsMedia: options.log?.showsMedia != true, folder: options.log?.folder)
      } else { nil }
    let wantsPictures = options.takesCommands || isControlled || options.report != nil || options.script.needsPictures
    pictures = wantsPictures ? PictureTaker() : nil
    control =
      if isControlled, let log, let pictures {
        ControlInterface(log, pictures, display: options.headUnit.screen, keepsImages: options.web != nil)
      } else { nil }
  }

  func takePictures(of server: HeadUnitServer) throws(LinkError) {
    try pictures?.start(server)
  }

  /// Other programs may control the head unit from now on.
  func startControl(of server: HeadUnitServer) throws(HTTPServerFailure) {
    guard let control else { return }
    func start(_ place: ControlAddress, hasPage: Bool) throws(HTTPServerFailure) -> UInt16 {
      try control.start(place, hasPage: hasPage) { [weak server] command, text in
        server.flatMap { self.perform(command, text, on: $0) } ?? nil
      }
    }
    let isShared = options.control == options.web && options.control?.port != 0
    if let place = options.control {
      let port = try start(place, hasPage: isShared)
      if !options.logsToOutput { printLine("control \(place.host ?? "*"):\(port) token \(place.token)") }
      log?.noteProgram("control", ["port": .integer(Int(port))])
    }
    if let place = options.web {
      let port = isShared ? place.port : try start(place, hasPage: true)
      if !options.logsToOutput { printLine("web \(place.page(atPort: port))") }
      log?.noteProgram("web", ["port": .integer(Int(port))])
    }
  }

  /// Gives the head unit a command that was typed or sent.
  /// - Returns: why it has no effect; nil if it has one.
  func perform(_ command: HeadUnitCommand, _ text: String, on server: HeadUnitServer) -> String? {
    if command == .quit {
      // Nothing is noted after the end.
      noteCommand(text, failure: nil)
      end()
      return nil
    }
    let failure = server.carryOut(command, hasApp: isAppRegistered, policy: options.headUnit.policy)
    noteCommand(text, failure: failure)
    return failure
  }

  func startRecordings() throws(LinkError) {
    OutputLines.isTaken.store(options.logsToOutput, ordering: .relaxed)
    try recording?.start()
    try audioRecording?.start()
    try log?.start()
  }

  /// What decides on the exit status; nil when nothing is wrong.
  var finding: Finding? {
    totals.withLock { totals in
      totals.report.failureCount > 0
        ? .expectation : totals.violations > 0 ? .violation : totals.vanished > 0 ? .vanished : nil
    }
  }

  /// Whether all apps have gone that are waited for (`--app-exits`), or the test has ended.
  var isOver: Bool { totals.withLock { $0.isOver } }
  /// Whether an app has been registered.
  var hasAppCome: Bool { totals.withLock { $0.hasAppCome } }

  private var isAppRegistered: Bool { totals.withLock { !$0.registered.isEmpty } }

  /// The head unit listens.
  func noteStart(port: UInt16, secondaryPort: UInt16?, webSocketPort: UInt16?) {
    let names = HeadUnitScript.Event.allCases.map(\.rawValue) + FunctionID.allNames
    log?.noteProgram(
      "listening",
      JSONObject(present: [
        "port": .integer(Int(port)), "secondaryPort": secondaryPort.map { .integer(Int($0)) },
        "webSocketPort": webSocketPort.map { .integer(Int($0)) },
        "uri": .string(options.uri(port)), "events": .array(names.map(JSONValue.string)),
      ]))
    guard !options.logsToOutput else { return }
    printLine("listening \(port)")
    if let secondaryPort { printLine("secondary transport \(secondaryPort)") }
    if let webSocketPort { printLine("websocket \(webSocketPort)") }
  }

  /// The counters of all connections, which have ended, as the last line.
  func noteEnd(_ program: ChildProgram.Status?, exitStatus: Int32) {
    let totals = totals.withLock { $0 }
    var counts: [(name: String, value: UInt64)] = [
      ("messages", totals.video.messages), ("bytes", totals.video.bytes), ("pictures", totals.video.pictures),
      ("key-frames", totals.video.keyFrames), ("violations", UInt64(totals.violations)),
      ("vanished", UInt64(totals.vanished)),
    ]
    if totals.report.count > 0 {
      counts += [("expectations", UInt64(totals.report.count)), ("failed", UInt64(totals.report.failureCount))]
    }
    var members = JSONObject(uniqueKeysWithValues: counts.map { ($0.name, .integer(Int(clamping: $0.value))) })
    members["status"] = .integer(Int(exitStatus))
    members["program"] = program.map { .string("\($0)") }
    log?.noteProgram("summary", members)
    guard !options.logsToOutput else { return }
    let words = counts.map { "\($0.name)=\($0.value)" } + (program.map { ["program=\($0)"] } ?? [])
    printLine("summary \(words.joined(separator: " "))")
  }

  /// The program of the test has ended. Its app sends nothing more once its connections have ended; only a recording that
  /// is replayed would wait for it.
  func noteProgramEnd() {
    guard options.script.replay != nil else { return }
    if totals.withLock({ totals in
      totals.hasProgramEnded = true
      return totals.connected.isEmpty
    }) {
      end()
    }
  }

  /// Ends the program, in order.
  func end() {
    totals.withLock { $0.isOver = true }
    kill(getpid(), SIGTERM)
  }

  /// A line of the program that is tested.
  func noteOutput(_ line: String) {
    log?.noteOutput(line)
    note(line: "program: \(line)", isPrinted: !options.isQuiet)
  }

  /// A typed command was given to the head unit, or why it was not.
  func noteCommand(_ text: String, failure: String?) {
    log?.noteCommand(text, failure: failure)
    if let failure, !options.logsToOutput { printLine(failure) }
  }

  func printHelp() {
    noteCommand("help", failure: nil)
    if options.logsToOutput {
      log?.noteProgram("help", ["text": .string(HeadUnitCommand.helpText)])
    } else {
      for line in HeadUnitCommand.helpText.split(separator: "\n") { printLine(String(line)) }
    }
  }

  /// Writes the report, and says why that or the log is not complete; nil if they are.
  var writingFailure: String? {
    if let failure = log?.failure {
      return "the log is not complete: \(LinkError.system(operation: "write", errno: failure))"
    }
    guard let reportFile, let path = options.report else { return nil }
    let report = totals.withLock { $0.report }
    let time = (MonotonicClock.now - beginning) / .seconds(1)
    let text = Array(report.xml(suite: options.scriptName, time: time).utf8)
    let count = text.withUnsafeBytes { write(reportFile, $0.baseAddress, $0.count) }
    guard count != text.count || close(reportFile) != 0 else { return nil }
    return "\(LinkError.system(operation: "write \(path)", errno: errno))"
  }

  /// Waits until the recordings are written, or nothing more is read of them.
  func finishRecordings() {
    recording?.finish()
    audioRecording?.finish()
    control?.stop()
    if options.report != nil { pictures?.waitForAll() }
    pictures?.finish()
    log?.finish()
  }

  func server(_ server: HeadUnitServer, needs picture: HeadUnitScriptRun.Picture) {
    pictures?.take(picture)
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    if let control {
      control.note(event)
    } else {
      log?.note(event)
      if let pictures, case .session(let id, let event) = event { pictures.note(event, of: id) }
    }
    let hasVanished = note(event)
    defer {
      if hasVanished {
        note(line: "\(event.appNumber ?? 0) has vanished: no UnregisterAppInterface", isPrinted: true)
      }
    }
    guard let text = event.text else { return }
    let line = event.appNumber.map { "\($0) \(text)" } ?? text
    switch event {
    case .session(_, .violation): note(line: line, isPrinted: options.isChecking)
    case .session(_, .driverInputWithoutEffect): note(line: line, isPrinted: true)
    case .secondaryPortFailed, .stepSkipped, .stepsDropped: note(line: "warning: \(text)", isPrinted: true)
    case .tested(let outcome):
      note(line: line, isPrinted: !options.isQuiet || outcome.failure != nil)
      if let number = totals.withLock({ $0.report.note(outcome, log: $0.recent) }) { takeScreenshot(ofCase: number) }
    // Asked and answered in the same moment.
    case .session(_, .videoStartRequested), .session(_, .audioStartRequested): break
    default: note(line: line, isPrinted: !options.isQuiet)
    }
  }

  /// Of a failure: a file beside the report.
  private func takeScreenshot(ofCase number: Int) {
    guard let report = options.report else { return }
    let path = "\(report.hasSuffix(".xml") ? String(report.dropLast(4)) : report)-\(number).png"
    pictures?.takeImage { result in
      guard case .success(let image) = result, (try? PictureTaker.write(image, to: path)) != nil else { return }
      self.totals.withLock { $0.report.setScreenshot(path, ofCase: number) }
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
    case .connected(let id, _): totals.withLock { _ = $0.connected.insert(id) }
    case .disconnected(let id, let error, let statistics):
      let isLastOfProgram = totals.withLock { totals in
        totals.connected.remove(id)
        return totals.hasProgramEnded && totals.connected.isEmpty
      }
      if isLastOfProgram { end() }
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
    case .testEnded(let end): if end == .quit || options.endsWithTest { self.end() }
    default: break
    }
    return false
  }

  private func noteRegistration(_ event: HeadUnitSession.Event, of id: UInt8) {
    totals.withLock { totals in
      switch event {
      case .appRegistered:
        totals.registered.insert(id)
        totals.hasAppCome = true
        totals.departures.noteRegistration(id)
      case .appUnregistered(let reason):
        totals.registered.remove(id)
        if reason == .transportLost { totals.lost.insert(id) }
      default: break
      }
    }
  }

  /// Adds a line with the time since the beginning, in seconds.
  func note(line: String, isPrinted: Bool) {
    let milliseconds = Int((MonotonicClock.now - beginning) / .milliseconds(1))
    let fraction = "\(milliseconds % 1000)"
    let line =
      "[\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)] \(line.printable(limit: 4000))"
    totals.withLock { $0.recent = $0.recent.suffix(Self.mostRecentLines - 1) + [line] }
    // The log has the standard output for itself.
    if isPrinted, !options.logsToOutput { printLine(line) }
  }
}

extension EventPrinter {
  /// What is wrong with the apps.
  enum Finding {
    case expectation
    case violation
    case vanished
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
