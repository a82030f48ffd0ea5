import SDLApp
import SDLMessages
import TestSupport

/// A kind of thing that happens. A scenario has some of them.
enum Family: String, CaseIterable {
  /// What the driver does with levels and sizes.
  case driver
  /// Fingers and keys.
  case input
  /// How the head unit answers.
  case answers
  /// What the head unit asks for or breaks off by itself.
  case breaks
  case network
  case cuts
  /// Machines that stand still.
  case standstill
  /// What pipeline and application do.
  case pipeline
  case application
  /// The application's own RPCs, and what the driver makes of them.
  case requests
  /// The car itself: its readings, languages, policies.
  case vehicle
  case secondary

  /// Bytes come late, or not at all, and nobody is to blame.
  var delays: Bool { [.network, .cuts, .standstill].contains(self) }

  /// A step; its words are those of ``World/perform(_:)``.
  func action(_ random: inout SeededGenerator, appCount: Int) -> String {
    let app = "app \(Int.random(in: 0..<appCount, using: &random))"
    let path = random.pick(["primary", "primary", "secondary"])
    func milliseconds(_ choices: [Int]) -> Int { Int.random(in: 0...random.pick(choices), using: &random) }
    switch self {
    case .driver:
      return "car "
        + random.pick([
          "level full", "level full", "level full not-streamable", "level limited", "level limited not-streamable",
          "level background", "level none", "activate", "audio-streaming audible", "audio-streaming not-audible",
          "phone-call on", "phone-call off", "emergency on", "emergency off", "embedded-navi on", "embedded-navi off",
          "resize 480x320", "resize 800x480", "resize 800x480 scale 1.5", "framerate 10", "framerate 0",
          "max-bitrate 500", "update scale 2", "update sizes 800x480,400x240", "audio-streaming attenuated",
          "update haptics on", "update haptics off", "update diagonal 7 density 100",
          "update formats RTP/H264,RAW/H264",
          "resize 480x320 scale 1.5",
        ])
    case .input:
      return "car "
        + random.pick([
          "touch tap 100 100", "touch swipe 10 10 300 200", "touch begin 0 50 50", "touch end 0 60 60",
          "touch move 0 55 55", "touch cancel 0 0 0", "press OK", "press NAV_ZOOM_IN long", "press NAV_PAN_LEFT down",
          "press NAV_PAN_LEFT up",
        ])
    case .answers:
      return "car "
        + random.pick([
          "answer start-video silence", "answer start-video once silence", "answer start-video once nak width height",
          "answer start-video nak", "answer start-video once nak videoProtocol", "answer start-video regular",
          "answer start-video echo", "answer start-video once ack 480x320", "answer start-video regular",
          "refuse width height", "refuse videoCodec", "answer start-video once ack 0x0",
          "answer start-video once nak because it is busy",
          "answer start-audio ack", "answer start-audio nak", "answer start-audio silence", "answer start-audio end",
          "answer end-service silence", "answer end-service nak", "answer end-service ack", "answer start-session nak",
          "answer start-session silence", "answer start-session ack", "answer register silence",
          "answer register too-many-applications", "answer register regular", "answer get-capability silence",
          "answer get-capability disallowed", "answer get-capability regular", "delay start-video 3",
          "delay start-video 0", "none-after-refusal off", "none-after-refusal on", "heartbeat silence",
          "heartbeat core", "heartbeat 1", "silent on", "silent off", "answer start-tls silence",
          "answer start-tls clear", "answer start-tls expired", "answer start-tls garbage", "answer start-tls regular",
          "answer start-tls lost-finished", "answer start-tls garbled-finished", "answer start-tls wrong-id",
          "answer start-tls unknown-ca",
        ])
    case .breaks:
      return "car "
        + random.pick([
          "end-video", "end-audio", "end-video", "unregister request-while-in-none-hmi-level",
          "unregister language-change", "unregister protocol-violation", "unregister ignition-off",
          "unregister app-unauthorized", "ignition-off", "cut", "cut secondary", "player off", "player on", "player 3",
          "data-timeout off", "data-timeout 2",
        ])
    case .network:
      let conditions = Scenario.conditions(&random)
      return random.chance(0.5)
        ? "net stall \(path) \(milliseconds([300, 3000, 12_000, 30_000]))"
        : "net conditions \(conditions.delay) \(conditions.rate ?? 0) \(conditions.piece) \(conditions.capacity)"
    case .cuts:
      return random.pick([
        "net cut \(path) \(milliseconds([0, 300, 9000]))", "net silence \(path) \(milliseconds([8000, 30_000]))",
        "net half-close \(path) \(random.pick(["car", "app"]))",
        "car refuse-connections \(random.pick(["on", "off", "off"]))",
      ])
    case .standstill:
      return random.pick([
        "stand car \(milliseconds([50, 900, 4000]))", "stand \(app) \(milliseconds([50, 900, 4000]))",
        "car stall \(random.pick([0.1, 1.0, 6.0, 25.0]))",
      ])
    case .pipeline:
      return app + " "
        + random.pick([
          "play", "pause", "flush on", "flush off", "eos", "begin", "sound play", "sound pause", "sound silent",
          "sound loud", "sound eos", "caps \(random.pick(["800x480", "480x320", "100x100", "800x380"])) raw",
          "caps 800x480 encoded", "caps none encoded", "ranges \(random.pick([500, 5000]))", "ranges 5000",
        ])
    case .application:
      return app + " "
        + random.pick([
          "stop", "start", "start", "state foreground", "state resigning", "state background", "state regaining",
          "state foreground", "haptics \(milliseconds([9]))", "buttons on", "buttons off",
        ])
    case .requests:
      if random.chance(0.3) {
        return "car "
          + random.pick([
            "menu \(milliseconds([5]))", "choose \(milliseconds([5]))", "press soft-button \(milliseconds([5]))",
            "slider 3", "keyboard Ulm", "press PRESET_1", "press OK",
          ])
      }
      if random.chance(0.15) {
        let names = RequestVocabulary.notifications.filter { _ in random.chance(0.5) }.map { "\($0)" }
        return "\(app) notify \(names.isEmpty ? "none" : names.joined(separator: ","))"
      }
      if random.chance(0.1) { return "\(app) burst Show \(milliseconds([120]))" }
      let name = random.pick(random.chance(0.8) ? RequestVocabulary.frequent : RequestVocabulary.rare)
      return "\(app) rpc \(name) \(milliseconds([5])) \(milliseconds([500, 200_000]))"
    case .vehicle:
      return "car "
        + random.pick([
          "vehicle speed 50", "vehicle speed 0", "vehicle prndl drive", "vehicle rpm 2000", "gps 48.5 9.5 180",
          "distraction on", "distraction off", "distraction on Look ahead", "policy-update https://example.org/",
          "language DE-DE", "language EN-US", "language EN-US",
        ])
    case .secondary:
      return "car "
        + random.pick([
          "secondary-transport on", "secondary-transport off", "secondary-transport 192.0.2.1 9", "cut secondary",
          "answer register-secondary nak",
          "answer register-secondary silence", "answer register-secondary close", "answer register-secondary ack",
          "delay secondary-transport 2", "video-transports 2,1", "video-transports 1,2", "video-transports 2",
          "audio-transports 1", "audio-transports 2", "audio-transports 2,1",
        ])
    }
  }
}
