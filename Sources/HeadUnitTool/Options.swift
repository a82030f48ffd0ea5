import Discovery
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import TLSEngine

struct Options {
  static let usage = """
    usage: sdl-head-unit [options]
    A head unit without a car: accepts apps that speak SmartDeviceLink, checks what they send, and prints what happens.

      --address HOST   listen on this address only (default 127.0.0.1; * for all)
      --port N         listen on this port (default 12345; 0 takes any free port)
      --announce       announce the head unit on the local network (DNS-SD), by Avahi
      --secondary-transport PORT
                       offer apps a secondary transport at this port (0 takes any free port)
      --secondary-from ORIGIN
                       \(SecondaryOrigin.allCases.map(\.rawValue).joined(separator: ", ")): the addresses from which it may be used; same (default) is the address
                       of the app's first connection, any is for phones that have several
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
                       with --app-exits: exit after this time at the latest
      --commands       read commands from the standard input, one per line ("help" lists them)
      --script FILE    run the behaviour script in FILE
      --no-activation  leave apps at HMI level NONE until a command changes it
      --no-checks      accept any size, rate and content; for benchmarks
      --quiet          print only violations and the summary
      --version        print the version, and exit
      --help           print this, and exit

    exit status: 0 if no app broke a rule; 1 if one did, or its connection broke off while it was registered; 2 if the
    head unit could not start; with --app-exits, if the apps were not gone by then, 3 after the deadline, and 130 or 143
    after SIGINT or SIGTERM
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
  /// This end of TLS; nil for video in clear only.
  var tls: TLSContext?

  struct Invalid: Error {
    var text: String
  }

  init(arguments: [String]) throws(Invalid) {
    var rest = arguments[...]
    var screen: ImageResolution?
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
    var role = TLSContext.Role.client
    var variant = TLSContext.Variant.tls
    while let option = rest.popFirst() {
      switch option {
      case "--announce": isAnnounced = true
      case "--app-exits": leavesWithApp = true
      case "--commands": takesCommands = true
      case "--no-activation": activates = false
      case "--rpc-encryption": requiresRPCEncryption = true
      case "--tls-server": role = .server
      case "--dtls": variant = .dtls
      case "--no-checks": isChecking = false
      case "--quiet": isQuiet = true
      case "--encryption", "--certificate", "--private-key", "--ca-certificates", "--address", "--deadline", "--grant",
        "--make", "--model",
        "--microphone", "--pcm", "--port", "--preset", "--record", "--record-audio", "--screen", "--script",
        "--secondary-from", "--secondary-transport":
        guard let value = rest.popFirst() else { throw Invalid(text: "\(option) needs a value") }
        switch option {
        case "--address": address = value == "*" ? nil : value
        case "--make": make = value
        case "--model": model = value
        case "--encryption": headUnitSecurity = try Self.parse(option, value) { HeadUnitSecurity(rawValue: $0) }
        case "--certificate": credentials.certificate = .file(value)
        case "--private-key": credentials.privateKey = .file(value)
        case "--ca-certificates": credentials.authorities = .file(value)
        case "--deadline": deadline = try Self.parse(option, value, Self.seconds)
        case "--grant":
          guard let groups = PolicyGroup.list(value) else {
            throw Invalid(
              text: "--grant does not take \"\(value)\"; there are \(PolicyGroup.names.joined(separator: ", "))")
          }
          grants.formUnion(groups)
        case "--record": recording = value
        case "--record-audio": audioRecording = value
        case "--microphone": microphone = try Self.sound(value)
        case "--pcm": pcmFormat = try Self.parse(option, value, Self.pcmFormat)
        case "--script":
          do throws(HeadUnitScriptFile.Failure) {
            script = try HeadUnitScriptFile.read(value)
          } catch {
            throw Invalid(text: "\(error)")
          }
        case "--secondary-from":
          admission.secondaryOrigin = try Self.parse(option, value) { SecondaryOrigin(rawValue: $0) }
        case "--secondary-transport":
          admission.secondaryPort = try Self.parse(option, value) { UInt16($0) }
          servesSecondary = true
        case "--port": port = try Self.parse(option, value) { UInt16($0) }
        case "--preset": headUnit = try Self.parse(option, value) { HeadUnitPreset(rawValue: $0)?.configuration }
        default: screen = try Self.parse(option, value, ImageResolution.init(text:))
        }
      case let option where option.hasPrefix("--app-exits="):
        leavesWithApp = true
        awaitedAppCount = try Self.parse("--app-exits", String(option.drop { $0 != "=" }.dropFirst())) { text in
          Int(text).flatMap { $0 > 0 ? $0 : nil }
        }
      default: throw Invalid(text: "unknown option \(option)")
      }
    }
    if isAnnounced, !HeadUnitAnnouncement.canReach(address) {
      throw Invalid(text: "--announce is for a head unit that the network reaches: give --address '*' as well")
    }
    if deadline != nil, !leavesWithApp { throw Invalid(text: "--deadline needs --app-exits") }
    headUnit.policy.groups.formUnion(grants)
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
    headUnit.microphone = microphone
    if let pcmFormat { headUnit.pcmFormat = pcmFormat }
    if let make { headUnit.vehicle.make = make }
    if let model { headUnit.vehicle.model = model }
    if let screen {
      headUnit.screen = screen
      headUnit.videoCapability?.preferredResolution = screen
      headUnit.videoCapability?.additionalCapabilities = nil
    }
    if !activates { headUnit.activation = nil }
    if !isChecking {
      headUnit.isStrict = false
      headUnit.refusesUnknownSizes = false
      headUnit.videoCapability?.maxBitrate = nil
      headUnit.videoCapability?.preferredFPS = nil
    }
  }

  private static func sound(_ path: String) throws(Invalid) -> WAVSound {
    do throws(HeadUnitScriptFile.Failure) {
      let bytes = try HeadUnitScriptFile.bytes(of: path, atMost: WAVSound.maximumByteCount + 1)
      if let sound = WAVSound(bytes) { return sound }
    } catch {
      throw Invalid(text: "\(error)")
    }
    throw Invalid(text: "\(path) is no WAV file with PCM of 8 or 16 bits, or is too long")
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
