import Discovery
import Glibc
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import TLSEngine

struct Options {
  static let usage = """
    usage: sdl-head-unit [options] [-- PROGRAM ARGUMENTS ...]
    A head unit without a car: accepts apps that speak SmartDeviceLink, checks what they send, and prints what happens.

      --address HOST   listen on this address only (default 127.0.0.1; * for all)
      --port N         listen on this port (default 12345; 0 takes any free port)
      --announce       announce the head unit on the local network (DNS-SD), by Avahi
      --secondary-transport PORT
                       offer apps a secondary transport at this port (0 takes any free port)
      --secondary-from ORIGIN
                       \(SecondaryOrigin.allCases.map(\.rawValue).joined(separator: ", ")): the addresses from which it may be used; same (default) is the address
                       of the app's first connection, any is for phones that have several
      \(WebSocketOptions.usage)
      --preset NAME    one of \(HeadUnitPreset.allCases.map(\.rawValue).joined(separator: ", "))
      --screen WxH     size of the screen, and the only size that video may have
      --make NAME      make of the car (default SDL); apps adapt to some, such as Ford
      --model NAME     model of the car (default Generic)
      --encryption MODE
                       \(HeadUnitSecurity.allCases.map(\.rawValue).joined(separator: ", ")): handling of encrypted video and sound (default refuse)
      --tls-server     wait for the app to begin the TLS handshake; needs a certificate
      --dtls           begin the handshake with DTLS instead, as SDL Core's own configuration does
      --rpc-encryption apps have to encrypt RPCs as well
      --grant GROUP    grant apps a functional group of SDL Core's policies, beside those of the preset; may be repeated:
                       \(PolicyGroup.names.joined(separator: ", "))
      --policy FILE    the policies, as SDL Core's sdl_preloaded_pt.json: functional_groupings, and app_policies by app id
      --certificate FILE, --private-key FILE
                       the head unit's certificate and its key, in PEM, for apps that ask for one
      --ca-certificates FILE
                       authorities, in PEM, one of which must have signed an app's certificate
      --record FILE    write the video to FILE as it comes
      --record-audio FILE
                       write the sound to FILE, as WAV
      --pcm RATE/SIZE  format of the sound: \(PCMFormat.SamplingRate.allCases.map(\.rawValue).joined(separator: ", ")), with \(PCMFormat.SampleSize.allCases.map(\.rawValue).joined(separator: " or "))
                       (default 16KHZ/16_BIT); none announces nothing
      --microphone FILE
                       the car's microphone, which apps record: a WAV file with PCM (default silence)
      --app-exits[=N]  exit when the last app has disconnected, or N have; only registered apps count
      --deadline SECONDS
                       with --app-exits, --test or a program: exit after this time at the latest
      --wait-app SECONDS
                       exit if no app has been registered by then
      --control [ADDRESS:]PORT
                       take commands and questions over HTTP (127.0.0.1 unless an address is given; 0 takes any free port)
      --control-token TOKEN
                       with --control or --web: what requests have to know (default: one that is made, and printed)
      --web [ADDRESS:]PORT
                       show the car's screen in a browser, which takes the driver's touches and commands; the address to
                       open is printed. It is the same server as --control, also if both name the same port
      --commands       read commands from the standard input, one per line ("help" lists them)
      --script FILE    run the behaviour script in FILE
      --test FILE      run the script in FILE, and exit when all its expectations have ended
      --replay FILE    be the head unit of a recording (--log, or conversation-log of an element), with its answers, times
                       and driver; exit when it is over: with status 3 if the app has done something else
      --replay-speed N so many times faster, 0.1 to 10
      --junit FILE     write the expectations and their results to FILE, as JUnit XML
      --log FILE       write everything that happens to FILE, as a JSON object on each line; - is the standard output
      --log-files FOLDER
                       with --log: keep the files and other data of the apps' RPCs in FOLDER
      --log-media      with --log: a line for each message of video and sound, not one a second
      --blank          with --log: numbered words instead of what identifies people and cars
      --shape "WORDS"  make the road to the apps slow, as the command shape does, such as "up=600kbit delay=80ms"
      --no-activation  leave apps at HMI level NONE until a command changes it
      --no-checks      accept any size, rate and content; for benchmarks
      --quiet          print only violations and the summary
      --version        print the version, and exit
      --help           print this, and exit

    PROGRAM is started when the head unit listens, with its URI in SDL_URI and its port in SDL_PORT, and is ended with it.

    exit status, the first that holds: 3 if an expectation was not met; 1 if an app broke a rule; 5 if an app's connection
    broke off while it was registered; 7 if PROGRAM has failed; 4 if no app came in time; 6 after the deadline; 130 or 143
    after SIGINT or SIGTERM, with --app-exits or --test before the end; 0. 2 if the head unit could not start
    """

  var address: String? = "127.0.0.1"
  var port: UInt16 = 12345
  var admission = HeadUnitServer.Admission()
  var headUnit = HeadUnitPreset.standard.configuration
  var recording: String?
  var audioRecording: String?
  var script = HeadUnitScript()
  var leavesWithApp = false
  /// After so many apps; nil for the last connected one.
  var awaitedAppCount: Int?
  /// How long apps are waited for; nil for ever.
  var deadline: Duration?
  var takesCommands = false
  var isChecking = true
  var isQuiet = false
  var isAnnounced = false
  /// Nil for the road of the network alone.
  var shape: LinkShape?
  /// This end of TLS; nil for video in clear only.
  var tls: TLSContext?

  /// The end comes with that of the script's expectations.
  var endsWithTest = false
  /// The name of the script, for reports.
  var scriptName = "sdl-head-unit"
  var report: String?
  var log: Log?
  var control: ControlAddress?
  /// The control with its page for browsers.
  var web: ControlAddress?
  var webSockets = WebSocketOptions()
  /// How long the first app is waited for; nil for ever.
  var appDeadline: Duration?
  /// What is started when the head unit listens; empty for nothing.
  var program: [String] = []

  /// For apps on this machine.
  func uri(_ port: UInt16) -> String { "sdl://\(ControlAddress.host(address)):\(port)" }

  /// Whether the log has the standard output for itself.
  var logsToOutput: Bool { log?.path == Log.standardOutput }

  /// Where everything is logged.
  struct Log {
    static let standardOutput = "-"

    var path: String
    var folder: String?
    var showsMedia = false
    /// Whether what identifies people and cars is replaced.
    var isBlank = false

    /// Creates the file, and the folder.
    func open() throws(LinkError) -> BackgroundFile {
      let file: BackgroundFile
      if path == Self.standardOutput {
        let descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
        file = ConversationWriter.file(descriptor)
      } else {
        file = try ConversationWriter.file(path, waitsForReader: true)
      }
      if let folder {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST, access("\(folder)/.", W_OK | X_OK) == 0 else {
          throw .system(operation: "write into the folder \(folder)", errno: errno)
        }
      }
      return file
    }
  }

  /// Whether other programs, or pages, control the head unit.
  var isControlled: Bool { control != nil || web != nil }

  struct Invalid: Error {
    var text: String
  }

  init(arguments: [String]) throws(Invalid) {
    var rest = arguments[...]
    var screen: VideoSize?
    var servesSecondary = false
    var make: String?
    var model: String?
    var microphone: WAVSound?
    var pcmFormat: PCMFormat?? = nil
    var activates = true
    var headUnitSecurity = HeadUnitSecurity.refuse
    var credentials = TLSCredentials.Sources()
    var requiresRPCEncryption = false
    var grants: Set<PolicyGroup> = []
    var policy: PolicyTable?
    /// Those that are read.
    var files: [String] = []
    var replay: (file: String, recording: ConversationRecording)?
    var speed: Double?
    var role = TLSContext.Role.client
    var variant = TLSContext.Variant.tls
    var hasScript = false
    var logFolder: String?
    var token: String?
    var logsMedia = false
    var blanksLog = false
    while let option = rest.popFirst() {
      func next() throws(Invalid) -> String {
        guard let value = rest.popFirst() else { throw Invalid(text: "\(option) needs a value") }
        return value
      }
      func parsed<Value>(_ read: (String) -> Value?) throws(Invalid) -> Value {
        try Self.parse(option, try next(), read)
      }
      func input() throws(Invalid) -> String {
        files.append(try next())
        return files[files.count - 1]
      }
      switch option {
      case "--":
        program = Array(rest)
        rest = []
        if program.isEmpty { throw Invalid(text: "there is no program after --") }
      case "--announce": isAnnounced = true
      case "--app-exits": leavesWithApp = true
      case let option where option.hasPrefix("--app-exits="):
        leavesWithApp = true
        awaitedAppCount = try Self.parse("--app-exits", String(option.drop { $0 != "=" }.dropFirst())) { text in
          Int(text).flatMap { $0 > 0 ? $0 : nil }
        }
      case "--commands": takesCommands = true
      case "--no-activation": activates = false
      case "--rpc-encryption": requiresRPCEncryption = true
      case "--tls-server": role = .server
      case "--dtls": variant = .dtls
      case "--log-media": logsMedia = true
      case "--blank": blanksLog = true
      case "--no-checks": isChecking = false
      case "--quiet": isQuiet = true
      case "--websocket-tls": webSockets.usesTLS = true
      case let option where WebSocketOptions.names.contains(option):
        let value = try next()
        guard webSockets.take(option, value) else { throw Invalid(text: "\(option) does not take \"\(value)\"") }
      case "--address":
        let host = try next()
        address = host == "*" ? nil : host
      case "--control": control = try parsed(ControlAddress.init(text:))
      case "--control-token": token = try parsed(ControlAddress.token(text:))
      case "--web": web = try parsed(ControlAddress.init(text:))
      case "--make": make = try next()
      case "--model": model = try next()
      case "--encryption": headUnitSecurity = try parsed { HeadUnitSecurity(rawValue: $0) }
      case "--certificate": credentials.certificate = .file(try input())
      case "--private-key": credentials.privateKey = .file(try input())
      case "--ca-certificates": credentials.authorities = .file(try input())
      case "--deadline": deadline = try parsed(Self.seconds)
      case "--grant":
        let value = try next()
        guard let groups = PolicyGroup.list(value) else {
          throw Invalid(
            text: "--grant does not take \"\(value)\"; there are \(PolicyGroup.names.joined(separator: ", "))")
        }
        grants.formUnion(groups)
      case "--replay":
        let file = try input()
        replay = (file, try Self.conversation(file))
      case "--replay-speed": speed = try parsed { Double($0).flatMap { (0.1...10).contains($0) ? $0 : nil } }
      case "--policy": policy = try Self.policy(try input())
      case "--record": recording = try next()
      case "--record-audio": audioRecording = try next()
      case "--microphone": microphone = try Self.sound(try input())
      case "--pcm": pcmFormat = try parsed(Self.pcmFormat)
      case "--junit": report = try next()
      case "--log": log = Log(path: try next())
      case "--log-files": logFolder = try next()
      case "--wait-app": appDeadline = try parsed(Self.seconds)
      case "--script", "--test":
        scriptName = try input()
        guard !hasScript else { throw Invalid(text: "there is one script, by --script or --test") }
        do throws(HeadUnitScriptFile.Failure) {
          script = try HeadUnitScriptFile.read(scriptName, policies: nil)
        } catch {
          throw Invalid(text: "\(error)")
        }
        hasScript = true
        endsWithTest = option == "--test"
      case "--secondary-from": admission.secondaryOrigin = try parsed { SecondaryOrigin(rawValue: $0) }
      case "--secondary-transport":
        admission.secondaryPort = try parsed { UInt16($0) }
        servesSecondary = true
      case "--shape":
        let words = try next()
        do throws(HeadUnitCommand.Malformed) {
          shape = try LinkShape.parse(words.split(separator: " ").map(String.init))
        } catch {
          throw Invalid(text: "--shape: \(error)")
        }
      case "--port": port = try parsed { UInt16($0) }
      case "--preset": headUnit = try parsed { HeadUnitPreset(rawValue: $0)?.configuration }
      case "--screen": screen = try parsed(VideoSize.init(text:))
      default: throw Invalid(text: "unknown option \(option)")
      }
    }
    if isAnnounced, !HeadUnitAnnouncement.canReach(address) {
      throw Invalid(text: "--announce is for a head unit that the network reaches: give --address '*' as well")
    }
    if let replay {
      guard policy == nil, grants.isEmpty, screen == nil, make == nil, model == nil, pcmFormat == nil else {
        throw Invalid(
          text: "--policy, --grant, --screen, --make, --model and --pcm are what the recording of --replay says")
      }
      headUnit.adopt(replay.recording)
      script.replay = Replay(replay.recording, speed: speed ?? 1)
      endsWithTest = true
      if !hasScript { scriptName = replay.file }
    } else if speed != nil {
      throw Invalid(text: "--replay-speed needs --replay")
    }
    if deadline != nil, !leavesWithApp, !endsWithTest, program.isEmpty {
      throw Invalid(text: "--deadline needs --app-exits, --test, or a program after --")
    }
    if endsWithTest, !script.hasTestCommands {
      throw Invalid(text: "\(scriptName) has no expectations: use --script for it")
    }
    if logFolder != nil || logsMedia || blanksLog, log == nil {
      throw Invalid(text: "--log-files, --log-media and --blank need --log")
    }
    if logFolder != nil, blanksLog {
      throw Invalid(text: "--blank and --log-files contradict each other, since files identify people")
    }
    if let path = Self.overwritten(
      [log?.path, report, recording, audioRecording], inputs: files)
    {
      throw Invalid(text: "\(path) would be overwritten, and is read")
    }
    if token != nil, !isControlled { throw Invalid(text: "--control-token needs --control or --web") }
    if logsToOutput, isControlled, token == nil {
      throw Invalid(text: "--control or --web with --log - needs --control-token, since none can be printed")
    }
    let chosenToken = token ?? ControlAddress.newToken
    control?.token = chosenToken
    web?.token = chosenToken
    log?.folder = logFolder
    log?.showsMedia = logsMedia
    log?.isBlank = blanksLog
    if let policy {
      guard grants.isEmpty else {
        throw Invalid(text: "--grant is for the groups of SDL Core: name those of --policy in its app_policies")
      }
      headUnit.policy = policy
    }
    headUnit.policy.grant(grants)
    if let fault = script.fault(in: headUnit.policy) { throw Invalid(text: "\(scriptName), \(fault)") }
    if servesSecondary { headUnit.behaviour.secondaryTransport = .served }
    headUnit.security = headUnitSecurity
    headUnit.requiresRPCEncryption = requiresRPCEncryption
    headUnit.beginsHandshake = role == .client
    if requiresRPCEncryption, headUnitSecurity == .refuse {
      throw Invalid(text: "--rpc-encryption needs --encryption accept or require")
    }
    if role == .server || variant == .dtls, headUnitSecurity == .refuse {
      throw Invalid(text: "--tls-server and --dtls need --encryption accept or require")
    }
    if role == .server, credentials.certificate == nil || credentials.privateKey == nil {
      throw Invalid(text: "--tls-server needs --certificate and --private-key")
    }
    if headUnitSecurity != .refuse {
      do throws(TLSError) {
        tls = try TLSContext(
          role: role, variant: variant, credentials: TLSCredentials(credentials))
      } catch {
        throw Invalid(text: "\(error)")
      }
    }
    try webSockets.finish(credentials, isActivated: activates)
    headUnit.microphone = microphone
    if let pcmFormat { headUnit.pcmFormat = pcmFormat }
    if let make { headUnit.vehicle.make = make }
    if let model { headUnit.vehicle.model = model }
    if let screen { headUnit.setScreen(screen) }
    if !activates { headUnit.activation = nil }
    headUnit.reportsMessages = isChecking || log != nil || isControlled
    if !isChecking {
      headUnit.isStrict = false
      headUnit.refusesUnknownSizes = false
      headUnit.videoCapability?.maxBitrate = nil
      headUnit.videoCapability?.preferredFPS = nil
    }
  }

  /// The first output that is one of the files that are read; nil if there is none.
  private static func overwritten(_ outputs: [String?], inputs: [String]) -> String? {
    func identity(_ path: String) -> [UInt64]? {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
      return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
    let read = inputs.compactMap(identity)
    return outputs.compactMap(\.self).first { identity($0).map(read.contains) ?? false }
  }

  /// - Parameters:
  ///   - count: a file with more bytes is another one.
  ///   - fault: what is said between the path and the reason.
  private static func file<Value, Failure: Error>(
    _ path: String, atMost count: Int, _ fault: String, _ read: ([UInt8]) throws(Failure) -> Value
  ) throws(Invalid) -> Value {
    let bytes: [UInt8]
    do throws(HeadUnitScriptFile.Failure) {
      bytes = try HeadUnitScriptFile.bytes(of: path, atMost: count + 1)
    } catch {
      throw Invalid(text: "\(error)")
    }
    do throws(Failure) {
      return try read(bytes)
    } catch {
      throw Invalid(text: "\(path) \(fault): \(error)")
    }
  }

  private static func sound(_ path: String) throws(Invalid) -> WAVSound {
    if let sound = try file(path, atMost: WAVSound.maximumByteCount, "", WAVSound.init) { return sound }
    throw Invalid(text: "\(path) is no WAV file with PCM of 8 or 16 bits, or is too long")
  }

  private static func conversation(_ path: String) throws(Invalid) -> ConversationRecording {
    try file(path, atMost: ConversationRecording.maximumByteCount, "can't be replayed") {
      bytes throws(ConversationRecording.Malformed) in try ConversationRecording(parsing: bytes)
    }
  }

  private static func policy(_ path: String) throws(Invalid) -> PolicyTable {
    try file(path, atMost: JSONObject.maximumByteCount, "is no policy table") {
      bytes throws(PolicyTable.Malformed) in try PolicyTable(parsing: bytes)
    }
  }

  /// A day at most.
  private static func seconds(_ text: String) -> Duration? {
    Double(text).flatMap { $0 > 0 && $0 <= 86_400 ? .seconds($0) : nil }
  }

  /// Nil for a text that is neither a format nor "none".
  private static func pcmFormat(_ text: String) -> PCMFormat?? {
    text == "none" ? .some(nil) : PCMFormat(text: text).map { .some($0) }
  }

  private static func parse<Value>(
    _ option: String, _ text: String, _ read: (String) -> Value?
  ) throws(Invalid) -> Value {
    guard let value = read(text) else { throw Invalid(text: "\(option) does not take \"\(text)\"") }
    return value
  }
}
