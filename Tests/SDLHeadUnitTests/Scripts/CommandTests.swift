@testable import SDLHeadUnit
import SDLMessages
import Testing

@Suite struct CommandTests {
  @Test(
    arguments: [
      ("level full", .level(.full, .streamable)),
      ("level limited not-streamable", .level(.limited, .notStreamable)),
      ("level background", .level(.background, .notStreamable)),
      ("level none streamable", .level(.none, .streamable)),
      ("level full streamable attenuated", .level(.full, .streamable, .attenuated)),
      ("phone-call on", .event(.phoneCall, isActive: true)),
      ("emergency off", .event(.emergency, isActive: false)),
      ("embedded-navi on", .event(.embeddedNavigation, isActive: true)),
      ("resize 400x380", .resize(VideoSize(400, 380), scale: nil)),
      ("  resize\t640x480   scale 1.5 \r", .resize(VideoSize(640, 480), scale: 1.5)),
      ("distraction off", .driverDistraction(OnDriverDistraction(isDistractionLimited: false))),
      (
        "distraction on  Swipe  up",
        .driverDistraction(
          OnDriverDistraction(
            isDistractionLimited: true, lockScreenDismissalEnabled: true, lockScreenDismissalWarning: "Swipe up"))
      ),
      ("activate", .activate(nil)),
      ("activate 2", .activate(2)),
      ("close", .close(nil)),
      ("close 2", .close(2)),
      ("dismiss", .driverInput(.dismiss)),
      (
        "touch begin 0 100 200",
        .touch(OnTouchEvent(kind: .begin, fingers: [.init(id: 0, samples: [.init(x: 100, y: 200)])]))
      ),
      (
        "touch move 1 5 6 0 7 8 1 10000 0",
        .touch(
          OnTouchEvent(
            kind: .move,
            fingers: [
              .init(id: 1, samples: [.init(x: 5, y: 6), .init(x: 10_000, y: 0)]),
              .init(id: 0, samples: [.init(x: 7, y: 8)]),
            ]))
      ),
      ("end-video", .endVideo),
      ("end-audio", .endAudio),
      ("audio-streaming not-audible", .audioStreaming(.notAudible)),
      ("audio-streaming attenuated", .audioStreaming(.attenuated)),
      ("cut", .cut),
      ("ignition-off", .ignitionOff),
      ("refuse", .answerOnce(.reject([]))),
      ("refuse width height", .answerOnce(.reject(["width", "height"]))),
      ("silent on", .silent(true)),
      ("stall 2.5", .stall(.milliseconds(2500))),
      ("refuse-connections off", .refuseConnections(false)),
      ("help", .help),
    ] as [(String, HeadUnitCommand)])
  func reads(line: String, command: HeadUnitCommand) throws {
    #expect(try HeadUnitCommand.parse(line) == command)
  }

  @Test(arguments: ["", "  \t\r"]) func nothing(line: String) throws {
    #expect(try HeadUnitCommand.parse(line) == nil)
  }

  @Test(arguments: [
    ("lvel full", "unknown command \"lvel\"; there are \(HeadUnitCommand.names.joined(separator: ", "))"),
    ("Cut", "unknown command \"Cut\"; there are \(HeadUnitCommand.names.joined(separator: ", "))"),
    ("cut now", "\"cut now\" is not of the form cut or cut secondary"),
    ("phone-call maybe", "\"phone-call maybe\" is not of the form phone-call on|off"),
    ("stall  nan", "\"stall nan\" is not of the form stall SECONDS"),
    ("resize 800", "\"resize 800\" is not of the form resize WxH [scale S]"),
    ("answer end-service no", "\"answer end-service no\" is not of the form answer end-service ack|nak|silence"),
    (
      "secondary-transport maybe",
      "\"secondary-transport maybe\" is not of the form secondary-transport on [PORT] or secondary-transport ADDRESS PORT or secondary-transport off"
    ),
  ])
  func errors(line: String, message: String) {
    let error = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
    #expect(error?.description == message)
  }

  @Test(arguments: [
    "level", "level high", "level full maybe", "level full streamable now", "emergency", "resize", "resize 0x480",
    "resize 800x480x1", "resize 10001x480", "resize 800x", "resize 800x480 scale", "resize 800x480 scale 0.5",
    "resize 800x480 scale 11", "resize 800x480 by 2", "distraction", "distraction maybe", "activate 256", "activate -1",
    "close 256", "dismiss it",
    "touch begin", "touch begin 0", "touch begin 0 1", "touch begin 0 1 2 3", "touch press 0 1 2", "touch end 10 1 2",
    "touch end -1 1 2", "touch cancel 0 10001 2", "touch move 0 1 -2", "touch move 0 1.5 2",
    "refuse depth", "framerate", "framerate -1", "framerate 29.97", "framerate 2147483648", "max-bitrate",
    "max-bitrate 600k", "max-bitrate 600 400", "silent", "stall", "stall 0", "stall -1", "stall inf", "stall 1e9",
    "refuse-connections", "help me",
    "touch tap", "touch tap 1", "touch tap 1 10001", "touch tap 1 2 3 4", "touch swipe 1 2 3", "touch swipe 1 2 3 4 0",
    "touch swipe 1 2 3 4 11", "unregister", "unregister never",
    "answer", "answer start-video", "answer start-video once", "answer start-video maybe",
    "answer start-video echo 1x1",
    "answer start-video ack 1x", "answer start-video ack 1x1 1x1", "answer start-video ack RAW/",
    "answer start-video nak depth", "answer start-video nak because", "answer register ack",
    "answer start-session regular",
    "answer start-session ack nak", "answer end-video ack", "delay start-video", "delay start-video -1",
    "delay register 1",
    "none-after-refusal", "heartbeat 0", "heartbeat fast", "player late", "data-timeout 0", "data-timeout on",
    "secondary-transport 127.0.0.1", "secondary-transport on 65536", "secondary-transport on on", "video-transports",
    "video-transports 2,2", "video-transports 3", "audio-transports 1,", "cut primary", "answer register-secondary end",
    "secondary-transport 127.0.0.1 port", "update", "update size", "update scale 0.5",
    "update scale 2 scale 3", "update depth 8", "update formats RAW", "update sizes 1x1,", "update haptics maybe",
    "update framerate 30 size", "update density inf",
  ])
  func refuses(line: String) {
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
  }

  /// A name alone is answered with the forms of the command.
  @Test func usageNamesEveryCommand() throws {
    for line in HeadUnitCommand.usage.split(separator: "\n") {
      let name = String(line.prefix { $0 != " " })
      do {
        #expect(try HeadUnitCommand.parse(name) != nil)
      } catch {
        #expect(error.description.hasPrefix("\"\(name)\" is not of the form "))
        #expect(error.description.contains(line))
      }
    }
  }

  @Test func namesOfCommands() {
    #expect(Set(["level", "touch", "update", "help"]).isSubset(of: HeadUnitCommand.names))
    #expect(Set(HeadUnitCommand.names).count == HeadUnitCommand.names.count)
  }

  @Test func helpDescribesEveryForm() {
    let lines = HeadUnitCommand.helpText.split(separator: "\n").map(String.init)
    let forms = HeadUnitCommand.usage.split(separator: "\n").map(String.init)
    #expect(lines.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) == forms)
    #expect(lines.enumerated().allSatisfy { $0.offset % 2 == 0 || $0.element.hasPrefix("    ") })
    #expect(lines.contains("    no app may be heard; HMI level and video stay"))
  }
}
