import SDLApp
import Testing

/// Which requests follow which refusals.
@Suite struct VideoStartLadderTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var id: String
    var sizes = [VideoSize(800, 380), VideoSize(480, 320)]
    var formats: [VideoStreamingProtocol] = [.rtp, .raw]
    /// What is rejected of one request after the other; the one after the last is accepted.
    var rejected: [[String]]
    /// Those that were made, with "bare" for the one without parameters, and "stop" when nothing is left.
    var requests: [String]

    var testDescription: String { id }
  }

  private static let width = ["width"]
  private static let height = ["height"]
  private static let size = ["height", "width"]
  private static let codec = ["videoCodec"]
  private static let videoProtocol = ["videoProtocol"]
  private static let three = [VideoSize(800, 380), VideoSize(480, 320), VideoSize(320, 200)]

  @Test(arguments: [
    Case(id: "another protocol", rejected: [videoProtocol], requests: ["RTP 800×380", "RAW 800×380"]),
    Case(id: "another size", rejected: [height], requests: ["RTP 800×380", "RTP 480×320"]),
    Case(
      id: "another protocol, then another size", rejected: [videoProtocol, width],
      requests: ["RTP 800×380", "RAW 800×380", "RAW 480×320"]),
    Case(
      id: "everything refused", rejected: [videoProtocol, height, height, []],
      requests: ["RTP 800×380", "RAW 800×380", "RAW 480×320", "bare 480×320", "stop"]),
    Case(
      id: "the bare one accepted", rejected: [videoProtocol, height, height],
      requests: ["RTP 800×380", "RAW 800×380", "RAW 480×320", "bare 480×320"]),
    Case(id: "nothing refused", rejected: [], requests: ["RTP 800×380"]),
    Case(id: "width alone", rejected: [width], requests: ["RTP 800×380", "RTP 480×320"]),
    Case(id: "both sides", rejected: [size], requests: ["RTP 800×380", "RTP 480×320"]),
    Case(id: "codec alone", rejected: [codec], requests: ["RTP 800×380", "RAW 800×380"]),
    Case(id: "codec and protocol", rejected: [codec + videoProtocol], requests: ["RTP 800×380", "RAW 800×380"]),
    Case(id: "both kinds", rejected: [width + videoProtocol], requests: ["RTP 800×380", "RAW 480×320"]),
    Case(
      id: "both kinds twice", rejected: [size + codec, size + codec, []],
      requests: ["RTP 800×380", "RAW 480×320", "bare 480×320", "stop"]),
    Case(
      id: "format twice", rejected: [videoProtocol, codec],
      requests: ["RTP 800×380", "RAW 800×380", "bare 800×380"]),
    Case(
      id: "height twice", rejected: [height, height],
      requests: ["RTP 800×380", "RTP 480×320", "bare 480×320"]),
    Case(
      id: "size, format, size", rejected: [height, videoProtocol, width],
      requests: ["RTP 800×380", "RTP 480×320", "RAW 480×320", "bare 480×320"]),
    Case(
      id: "one size, format", sizes: [VideoSize(800, 380)], rejected: [videoProtocol, videoProtocol],
      requests: ["RTP 800×380", "RAW 800×380", "bare 800×380"]),
    Case(
      id: "one size, size", sizes: [VideoSize(800, 380)], rejected: [width],
      requests: ["RTP 800×380", "bare 800×380"]),
    Case(
      id: "one format, format", formats: [.raw], rejected: [videoProtocol, []],
      requests: ["RAW 800×380", "bare 800×380", "stop"]),
    Case(
      id: "three sizes", sizes: three, formats: [.raw], rejected: [width, height, size],
      requests: ["RAW 800×380", "RAW 480×320", "RAW 320×200", "bare 320×200"]),
    Case(
      id: "three sizes and formats, as many as can be", sizes: three,
      rejected: [width, videoProtocol, width, width],
      requests: ["RTP 800×380", "RTP 480×320", "RAW 480×320", "RAW 320×200", "bare 320×200"]),
    Case(
      id: "the same size twice in the list", sizes: [VideoSize(800, 380), VideoSize(800, 380), VideoSize(480, 320)],
      rejected: [width], requests: ["RTP 800×380", "RTP 480×320"]),
    Case(
      id: "unknown keys beside known ones", rejected: [["hashId", "width"]],
      requests: ["RTP 800×380", "RTP 480×320"]),
    Case(
      id: "unknown keys alone", rejected: [["hashId"], ["Width"], []],
      requests: ["RTP 800×380", "RTP 800×380", "RTP 800×380", "RTP 800×380"]),
    Case(
      id: "the bare one refused with keys", formats: [.raw], rejected: [videoProtocol, videoProtocol],
      requests: ["RAW 800×380", "bare 800×380", "stop"]),
    Case(
      id: "any size", sizes: [], rejected: [videoProtocol, width],
      requests: ["RTP 16×16", "RAW 16×16", "bare 16×16"]),
    Case(id: "no formats", formats: [], rejected: [], requests: ["stop"]),
  ])
  func requests(_ input: Case) {
    var ladder = VideoStartLadder(sizes: input.sizes, protocols: input.formats)
    var requests: [String] = []
    var size = input.sizes.first ?? VideoSize(16, 16)
    for rejected in input.rejected + [nil] {
      // Upstream follows to the best that is left.
      if !ladder.allows(size), let next = ladder.sizes.first { size = next }
      guard let request = ladder.request(for: size) else {
        requests.append("stop")
        break
      }
      requests.append("\(request.isBare ? "bare" : request.streamingProtocol.rawValue) \(request.size)")
      if let rejected { ladder.refused(request, .refused(rejectedParameters: rejected, reason: nil)) }
    }
    #expect(requests == input.requests)
    #expect(ladder.isExhausted == (input.requests.last == "stop"))
  }

  @Test func refusalsThatNameNothingLeadToTheBareStart() throws {
    let size = VideoSize(800, 380)
    var ladder = VideoStartLadder(sizes: [size, VideoSize(480, 320)], protocols: [.rtp, .raw])
    let request = try #require(ladder.request(for: size))
    ladder.refused(request, .refused(rejectedParameters: ["hashId"], reason: nil))
    #expect(ladder.request(for: size) == request)
    ladder.refused(request, .keptRefusing(count: 8, reason: nil))
    #expect(ladder.request(for: size)?.isBare == true)
    ladder.refused(VideoStartRequest(size: size, isBare: true), .refused(rejectedParameters: [], reason: nil))
    #expect(ladder.isExhausted && ladder.attempts.count == 2)
  }

  @Test func everythingThatWasTriedIsKept() {
    var ladder = VideoStartLadder(sizes: [VideoSize(800, 380)], protocols: [.rtp])
    let size = VideoSize(800, 380)
    for rejected in [["videoProtocol"], []] {
      guard let request = ladder.request(for: size) else {
        Issue.record("nothing to ask for")
        return
      }
      ladder.refused(request, .refused(rejectedParameters: rejected, reason: nil))
    }
    #expect(
      ladder.attempts.map(\.description) == [
        "H264 over RTP, 800×380 (rejected: videoProtocol)", "a start without parameters, 800×380",
      ])
    #expect(ladder.isExhausted && ladder.request(for: size) == nil)
  }

  @Test func anInputThatCannotChangeSkipsTheOtherSizes() {
    var ladder = VideoStartLadder(sizes: Self.three, protocols: [.raw])
    let size = VideoSize(800, 380)
    ladder.refused(VideoStartRequest(size: size), .refused(rejectedParameters: ["width"], reason: nil))
    #expect(!ladder.allows(size) && ladder.request(for: size) == nil)
    ladder.fixInput()
    #expect(ladder.isInputFixed && ladder.request(for: size) == VideoStartRequest(size: size, isBare: true))
    #expect(ladder.sizes == [VideoSize(480, 320), VideoSize(320, 200)])
  }

  /// A head unit that insists on sizes which it then refuses would otherwise be asked for ever.
  @Test func sizesOfTheHeadUnitsOwn() {
    var ladder = VideoStartLadder(sizes: [VideoSize(800, 380)], protocols: [.raw])
    var requests = 0
    for width in 100..<1000 {
      guard let request = ladder.request(for: VideoSize(width, 100)) else { break }
      requests += 1
      ladder.refused(request, .refused(rejectedParameters: ["width"], reason: nil))
    }
    #expect(requests == 3 && ladder.isExhausted)
  }

  @Test(
    arguments: [
      ("unknown formats before a known one", [("RTSP", "Theora"), ("RTMP", "VP8"), ("RAW", "H264")], nil, [.raw]),
      ("unknown formats only", [("WEBM", "VP9")], nil, []),
      ("no list", nil, nil, [.raw]),
      ("nothing listed", [], nil, [.raw]),
      ("the head unit's order", [("RTP", "H264"), ("RAW", "H264")], nil, [.rtp, .raw]),
      ("twice", [("RTP", "H264"), ("RAW", "H264"), ("RTP", "H264")], nil, [.rtp, .raw]),
      ("other codecs", [("RAW", "H265"), ("RTP", "H264")], nil, [.rtp]),
      ("exact names", [("raw", "H264"), ("RTP", "h264")], nil, []),
      ("the user's order", [("RAW", "H264"), ("RTP", "H264")], [.rtp, .raw], [.rtp, .raw]),
      ("the user's choice", [("RAW", "H264"), ("RTP", "H264")], [.rtp], [.rtp]),
      ("the user's choice alone is not offered", [("RAW", "H264")], [.rtp], []),
      ("the user's choice in part", [("RAW", "H264")], [.rtp, .raw], [.raw]),
      ("the user's choice, nothing listed", nil, [.rtp, .raw], [.rtp, .raw]),
    ] as [(String, [(String, String)]?, [VideoStreamingProtocol]?, [VideoStreamingProtocol])])
  func formats(
    _ id: String, offered: [(String, String)]?, wished: [VideoStreamingProtocol]?, expected: [VideoStreamingProtocol]
  ) {
    let offered = offered?.map { VideoStreamingFormat(videoProtocol: $0.0, codec: $0.1) }
    #expect(VideoStreamingProtocol.choices(offered: offered, wished: wished) == expected, "\(id)")
  }
}
