import SDLApp
import Testing

/// Every answer to StartService(video), and none.
@Suite struct VideoStartTests {
  private static let start = "→ StartService video 800×480 RAW H264"

  /// 5 s for the first start, 12 s for those after it; then an end, then pauses of 2 s, 4 s, … up to 30 s.
  @Test func startUnanswered() {
    let driver = AppDriver.starting()
    driver.wait(.milliseconds(4999))
    #expect(driver.take().isEmpty)
    for pause in [2.0, 4, 8, 16, 30, 30] {
      driver.wait(.milliseconds(1))
      #expect(
        driver.take() == ["• start of 800×480 failed [], again after \(pause) seconds", "→ EndService video"])
      driver.control(.endServiceNAK, .video)
      driver.wait(.seconds(pause) - .milliseconds(1))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == [Self.start])
      driver.wait(.milliseconds(11_999))
    }
    driver.acknowledgeVideo()
    #expect(driver.isStreaming)
  }

  @Test func lateAcknowledgement() {
    let driver = AppDriver.starting()
    driver.wait(.seconds(5))
    driver.control(.endServiceNAK, .video)
    _ = driver.take()
    driver.acknowledgeVideo()
    #expect(driver.take() == ["→ EndService video"])
    #expect(!driver.isStreaming)
    driver.control(.endServiceACK, .video)
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
  }

  /// A NAK that names nothing is tried again, with growing pauses; leaving cancels.
  @Test func refusedWithoutParameters() {
    let driver = AppDriver.starting()
    for pause in [2.0, 4, 8] {
      driver.refuseVideo(reason: "busy")
      #expect(driver.take() == ["• start of 800×480 failed [], again after \(pause) seconds"])
      driver.wait(.seconds(pause) - .milliseconds(1))
      #expect(driver.take().isEmpty)
      driver.wait(.milliseconds(1))
      #expect(driver.take() == [Self.start])
    }
    driver.refuseVideo()
    driver.status(.background, .notStreamable)
    _ = driver.take()
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    #expect(driver.session.nextDeadline == nil)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
    driver.refuseVideo()
    #expect(driver.take() == ["• start of 800×480 failed [], again after 2.0 seconds"])
  }

  @Test func refusedWithParameters() {
    let driver = AppDriver.starting()
    driver.refuseVideo(["width", "height"])
    #expect(driver.take() == ["• start of 800×480 failed [width,height], never again"])
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    driver.wait(milliseconds: 250)
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
    // Requested again after another request, it is tried again: conditions may have changed.
    driver.refuseVideo()
    driver.setVideoRequest(AppDriver.videoRequest)
    _ = driver.take()
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
    driver.refuseVideo(["height"])
    driver.status(.none, .notStreamable)
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }

  /// The refusal of a size that the app does not ask for any more is no failure.
  @Test func refusedAfterTheRequestChanged() {
    let driver = AppDriver.starting()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    driver.refuseVideo(["width"])
    driver.wait(milliseconds: 249)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
  }

  /// A refusal that names nothing may be temporary, so that the new request has to wait like the old one.
  @Test func refusedWithoutParametersAfterTheRequestChanged() {
    let driver = AppDriver.starting()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(400, 380)))
    driver.refuseVideo()
    #expect(driver.take() == ["• start of 800×480 failed [], again after 2.0 seconds"])
    driver.wait(milliseconds: 1999)
    #expect(driver.take().isEmpty)
    driver.wait(milliseconds: 1)
    #expect(driver.take() == ["→ StartService video 400×380 RAW H264"])
  }

  struct Answer: Sendable {
    var width: Int32?
    var height: Int32?
    var accepted: VideoSize
    var diagnostics = 0
  }

  /// Sizes in the answer: missing, impossible, and another than was requested.
  @Test(arguments: [
    Answer(width: 800, height: 480, accepted: VideoSize(800, 480)),
    Answer(width: nil, height: nil, accepted: VideoSize(800, 480)),
    Answer(width: 0, height: 0, accepted: VideoSize(800, 480), diagnostics: 1),
    Answer(width: 640, height: nil, accepted: VideoSize(800, 480), diagnostics: 1),
    Answer(width: -1, height: 480, accepted: VideoSize(800, 480), diagnostics: 1),
    Answer(width: .max, height: .max, accepted: VideoSize(800, 480), diagnostics: 1),
    Answer(width: 640, height: 360, accepted: VideoSize(640, 360)),
  ])
  func acceptedSize(_ answer: Answer) {
    let driver = AppDriver.starting()
    driver.acknowledgeVideo(VideoServiceParameters(width: answer.width, height: answer.height))
    #expect(driver.session.status.video.grant?.size == answer.accepted)
    #expect(driver.diagnostics.count == answer.diagnostics)
    _ = driver.take()
    // Requesting the acknowledged size is no change.
    driver.setVideoRequest(VideoStartRequest(size: answer.accepted))
    #expect(driver.take().isEmpty)
  }

  struct Format: Sendable {
    var videoProtocol: String?
    var codec: String?
    /// Nil when the format can't be sent.
    var streamingProtocol: VideoStreamingProtocol?
    var rejected: [String] = []
  }

  /// Formats in the answer to a request for RTP.
  @Test(arguments: [
    Format(streamingProtocol: .raw),
    Format(videoProtocol: "RTP", codec: "H264", streamingProtocol: .rtp),
    Format(videoProtocol: "RTP", streamingProtocol: .rtp),
    Format(codec: "H264", streamingProtocol: .raw),
    Format(videoProtocol: "RAW", codec: "H264", streamingProtocol: .raw),
    Format(videoProtocol: "RTSP", codec: "H264", rejected: ["videoProtocol"]),
    Format(videoProtocol: "RTP", codec: "VP8", rejected: ["videoCodec"]),
    Format(videoProtocol: "WEBM", codec: "VP9", rejected: ["videoCodec", "videoProtocol"]),
    Format(codec: "", rejected: ["videoCodec"]),
  ])
  func acceptedFormat(_ answer: Format) {
    let driver = AppDriver.ready(request: VideoStartRequest(size: VideoSize(800, 480), streamingProtocol: .rtp))
    driver.status(.full, .streamable)
    #expect(driver.take().last == "→ StartService video 800×480 RTP H264")
    driver.acknowledgeVideo(
      VideoServiceParameters(videoProtocol: answer.videoProtocol, videoCodec: answer.codec))
    #expect(driver.session.status.video.grant?.streamingProtocol == answer.streamingProtocol)
    guard answer.streamingProtocol == nil else {
      _ = driver.take()
      // Whatever the head unit acknowledged, the request is still the same.
      driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480), streamingProtocol: .rtp))
      #expect(driver.take().isEmpty)
      return
    }
    #expect(
      driver.take() == [
        "• start of 800×480 failed [\(answer.rejected.joined(separator: ","))], never again", "→ EndService video",
      ])
    // Something else is asked for when the service has ended.
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480)))
    driver.control(.endServiceACK, .video)
    #expect(driver.take() == [Self.start])
  }

  /// Refusals that name nothing may be temporary; eight in a row are final.
  @Test func refusedAgainAndAgain() {
    let driver = AppDriver.starting()
    for pause in [2, 4, 8, 16, 30, 30, 30] {
      driver.refuseVideo(reason: "no")
      driver.wait(.seconds(pause))
      #expect(driver.take().last == Self.start)
    }
    driver.refuseVideo(reason: "no")
    #expect(driver.take() == ["• start of 800×480 failed [], never again"])
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480), isBare: true))
    #expect(driver.take() == ["→ StartService video"])
  }

  /// SDL-0058: a start without parameters has no payload. Its refusal is final, unless the driver has left meanwhile.
  @Test func withoutParameters() {
    let driver = AppDriver.ready(request: VideoStartRequest(size: VideoSize(800, 480), isBare: true))
    driver.status(.full, .streamable)
    #expect(driver.frames.last?.header.controlFrame == .startService && driver.frames.last?.payload == [])
    driver.status(.none, .notStreamable)
    driver.refuseVideo(reason: "not in this level")
    #expect(driver.take().suffix(2) == ["→ StartService video", "• status NONE NOT_STREAMABLE"])
    driver.status(.full, .streamable)
    driver.refuseVideo()
    #expect(
      driver.take().suffix(2) == ["→ StartService video", "• start of 800×480 failed [], never again"])
    driver.wait(.seconds(100))
    #expect(driver.take().isEmpty)
  }

  /// It says nothing about the request, but the head unit is not asked again at once.
  @Test func refusedWithoutParametersWhenNobodyWaits() {
    let driver = AppDriver.ready(request: VideoStartRequest(size: VideoSize(800, 480), isBare: true))
    driver.status(.full, .streamable)
    driver.setVideoRequest(nil)
    driver.refuseVideo(reason: "no")
    _ = driver.take()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480), isBare: true))
    driver.wait(milliseconds: 1999)
    #expect(driver.take() == [])
    driver.wait(milliseconds: 1)
    #expect(driver.take() == ["→ StartService video"])
  }

  @Test func withoutParametersAccepted() {
    let driver = AppDriver.ready(request: VideoStartRequest(size: VideoSize(800, 480), isBare: true))
    driver.status(.full, .streamable)
    driver.acknowledgeVideo(VideoServiceParameters(width: 640, height: 360, videoProtocol: "RTP", videoCodec: "H264"))
    let grant = driver.session.status.video.grant
    #expect(grant?.size == VideoSize(640, 360) && grant?.isSizeOverridden == true && grant?.streamingProtocol == .rtp)
    _ = driver.take()
    driver.setVideoRequest(VideoStartRequest(size: VideoSize(640, 360), isBare: true))
    #expect(driver.take().isEmpty)
  }

  /// Rejected keys that are not in the request count as none.
  @Test func refusedWithUnknownParameters() {
    let driver = AppDriver.starting()
    driver.refuseVideo(["hashId"])
    #expect(driver.take() == ["• start of 800×480 failed [hashId], again after 2.0 seconds"])
    driver.wait(.seconds(2))
    #expect(driver.take() == [Self.start])
  }
}
