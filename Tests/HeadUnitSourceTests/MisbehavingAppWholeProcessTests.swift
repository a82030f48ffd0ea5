import CGStreamerApp
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

import struct TestSupport.SeededGenerator
import func TestSupport.residentBytes

@testable import Plugin
@testable import PluginTestSupport

/// Apps that misbehave affect neither the app on the screen nor the memory.
@Suite(.serialized) struct MisbehavingAppWholeProcessTests {
  /// Shows an app, lets others connect, and expects that all pictures have come, that memory has not grown, and that
  /// another app is still served.
  private func expectUnaffected(growth limit: Int = 24 << 20, _ body: (HeadUnitPipeline) throws -> Void) throws {
    let screen = try HeadUnitPipeline("screen-size=320x240", output: "sync=false max-buffers=1 drop=true")
    let app = try Pipeline(
      "videotestsrc is-live=true pattern=ball ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(screen.uri)")
    try app.play()
    _ = try screen.pull(3)
    let resident = try residentBytes()
    try body(screen)
    let growth = try residentBytes() - resident
    #expect(growth < limit, "\(growth) bytes")
    let shown = screen.statistics["frames-out"]
    #expect(eventually { screen.statistics["frames-out"] > shown + 10 })
    let statistics = screen.statistics
    #expect(statistics["stream-starts"] == 1 && statistics["discontinuities"] == 1, "\(statistics)")
    #expect(statistics["frames-dropped-queue-full"] == 0 && statistics.areFramesBalanced, "\(statistics)")
    let late = try RawApp(port: screen.port)
    try late.register(name: "Late")
    #expect(eventually { screen.apps.contains("Late") })
    #expect(screen.pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// Begins a session again and again, and reads none of the answers, each of which is far longer than what it asked.
  @Test func appThatNeverReads() throws {
    try expectUnaffected { screen in
      let client = try RawApp(port: screen.port)
      try client.register(name: "Unread")
      let start = Frame.control(
        .startService, service: .rpc, version: 1, sessionID: 0,
        payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 0)).bytes)
      let end = Frame.control(
        .endService, service: .rpc, version: 5, sessionID: client.sessionID,
        payload: EndServiceRequest(hashID: client.hashID).bytes(version: 5))
      let registration = RecordedApp.registration(sessionID: client.sessionID)
      let cycle = end.bytes + start.bytes + registration
      #expect(
        eventually {
          // Slower than what counts as a flood.
          g_usleep(4000)
          return !client.send(cycle)
        })
      #expect(eventually { screen.statistics["connections-open"] == 1 })
      // The connection did not end because of a flood.
      #expect(screen.statistics["violations"] == 0)
    }
  }

  /// Half a frame, and then nothing: others get the connection.
  @Test func appsThatStopInTheMiddleOfAFrame() throws {
    try expectUnaffected { screen in
      let apps = (0..<30).compactMap { index -> RawApp? in
        guard let client = try? RawApp(port: screen.port) else { return nil }
        client.send(Array(RecordedApp.start.dropLast(1 + index % 8)))
        return client
      }
      #expect(screen.statistics["connections-open"] <= 16)
      var late: RawApp?
      #expect(
        eventually {
          late = try? RawApp(port: screen.port)
          return (try? late?.register(name: "Later")) != nil
        })
      #expect(apps.count == 30)
      late?.close()
    }
  }

  /// First frames that announce large messages, of which only a part is sent.
  @Test func messagesThatAreNeverCompleted() throws {
    try expectUnaffected { screen in
      for size in [UInt32.max, 0x7FFF_FFFF, 4 << 20] {
        let client = try RawApp(port: screen.port)
        try client.register(name: "Partial")
        for id in 1...200 as ClosedRange<UInt32> {
          let counts = withUnsafeBytes(of: (size.bigEndian, (size / 131_072).bigEndian), Array.init)
          let part = [UInt8](repeating: 0x7A, count: 131_072)
          let first = FrameHeader(
            version: 5, frameType: .first, service: .rpc, frameInfo: 0, sessionID: client.sessionID, dataSize: 8,
            messageID: id)
          let next = FrameHeader(
            version: 5, frameType: .consecutive, service: .rpc, frameInfo: 1, sessionID: client.sessionID,
            dataSize: 131_072, messageID: id)
          client.send(Frame(header: first, payload: counts))
          client.send(Frame(header: next, payload: part))
        }
        client.close()
      }
      #expect(eventually { screen.statistics["connections-open"] == 1 })
    }
  }

  /// What an app sends, with bits flipped, ends missing and lengths changed.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func mutatedConversations(seed: UInt64) throws {
    try expectUnaffected { screen in
      var random = SeededGenerator(seed: seed)
      for index in 0..<40 {
        let client = try RawApp(port: screen.port)
        let isKnown = index.isMultiple(of: 2) && (try? client.register(name: "Fuzz")) != nil
        let frames = RecordedApp.frames(sessionID: isKnown ? client.sessionID : 1)
        for frame in isKnown ? frames[2...] : frames[...] {
          guard client.send(RecordedApp.mutated(frame, &random)) else { break }
        }
        client.close()
      }
      #expect(eventually { screen.statistics["connections-open"] == 1 })
      #expect(screen.statistics["violations"] > 0)
    }
  }
}

/// What an app of SDL's JavaScript library sends, from the first frame to the last.
private enum RecordedApp {
  static let start = Frame.control(
    .startService, service: .rpc, version: 5, sessionID: 0,
    payload: RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 0)).bytes
  ).bytes

  static func registration(sessionID: UInt8) -> [UInt8] {
    request(
      1,
      #"{"appHMIType":["NAVIGATION"],"appID":"video-js","appName":"VideoJS","fullAppID":"video-js","#
        + #""hmiDisplayLanguageDesired":"EN-US","isMediaApplication":false,"languageDesired":"EN-US","#
        + #""syncMsgVersion":{"majorVersion":8,"minorVersion":0,"patchVersion":0}}"#, sessionID: sessionID)
  }

  static func frames(sessionID: UInt8) -> [[UInt8]] {
    func control(_ frame: ControlFrame, _ service: ServiceType, _ payload: [UInt8] = []) -> [UInt8] {
      Frame.control(frame, service: service, version: 5, sessionID: sessionID, payload: payload).bytes
    }
    func video(_ count: Int) -> [UInt8] {
      let unit = [0, 0, 0, 1, 0x65] + [UInt8](repeating: 0x88, count: count)
      let message = Fragmentation(
        service: .video, version: 5, sessionID: sessionID, messageID: 9, payloadSize: unit.count, maximumPayload: 1000)
      return message.frames(of: unit)
    }
    let hash = EndServiceRequest(hashID: Int32(sessionID) << 16 | Int32(sessionID)).bytes(version: 5)
    return [
      start, registration(sessionID: sessionID), request(34, "{}", sessionID: sessionID),
      request(
        9, #"{"choiceSet":[{"choiceID":0,"menuName":"Test Cell"}],"interactionChoiceSetID":0}"#, sessionID: sessionID),
      request(
        32, #"{"crc":0,"fileType":"GRAPHIC_PNG","length":9,"offset":0,"syncFileName":"icon"}"#,
        bulk: [UInt8](repeating: 7, count: 9), sessionID: sessionID),
      request(48, #"{"subscribe":true,"systemCapabilityType":"VIDEO_STREAMING"}"#, sessionID: sessionID),
      control(.startService, .video, VideoServiceParameters.raw320x240.bytes(version: 5)),
      video(10), video(5000), control(.heartbeat, .control), control(.endService, .video),
      request(2, "{}", sessionID: sessionID), control(.endService, .rpc, hash),
    ]
  }

  private static func request(
    _ function: UInt32, _ text: String, bulk: [UInt8] = [], sessionID: UInt8
  ) -> [UInt8] {
    let header = RPCHeader(type: .request, functionID: function, correlationID: 7, jsonSize: UInt32(text.utf8.count))
    let payload = header.bytes + Array(text.utf8) + bulk
    let message = Fragmentation(
      service: .rpc, version: 5, sessionID: sessionID, messageID: function, payloadSize: payload.count,
      maximumPayload: 100_000)
    return message.frames(of: payload)
  }

  static func mutated(_ frame: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var frame = frame
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        frame[Int.random(in: 0..<frame.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
    case 1: frame.removeLast(Int.random(in: 1..<frame.count, using: &random))
    // The size in the header of the frame, and the one in the header of an RPC.
    case 2: frame[Int.random(in: 4...7, using: &random)] = UInt8.random(in: 0...255, using: &random)
    case 3 where frame.count > 23:
      frame[Int.random(in: 12...23, using: &random)] = UInt8.random(in: 0...255, using: &random)
    default: break
    }
    return frame
  }
}
