import SDLApp
import Testing

/// Services that the head unit accepts and soon ends again, although the HMI level allows them.
@Suite struct VideoEarlyEndTests {
  private static let start = "→ StartService video 800×480 RAW H264"

  /// A head unit whose HMI refuses the stream accepts the service and ends it again, each time; one whose HMI does not
  /// answer does so after 8 s.
  @Test(arguments: [Duration.milliseconds(50), .seconds(8)]) func endedEarlyAgainAndAgain(after time: Duration) {
    let driver = AppDriver.starting()
    for pause in [2.0, 4, 8] {
      driver.acknowledgeVideo()
      driver.wait(time)
      _ = driver.take()
      driver.control(.endService, .video)
      driver.wait(.milliseconds(100))
      var expected = ["→ EndServiceACK video", "• stopped head-unit"]
      if pause > 2 { expected.append("• start of 800×480 failed [], again after \(pause) seconds") }
      #expect(driver.take() == expected)
      driver.wait(.seconds(pause) - .milliseconds(100))
      #expect(driver.take() == [Self.start])
    }
    // After a stream that has lasted, the pauses are short again.
    driver.acknowledgeVideo()
    driver.wait(.seconds(30))
    driver.control(.endService, .video)
    driver.wait(.milliseconds(100))
    #expect(driver.take().last == "• stopped head-unit")
    driver.wait(.milliseconds(1900))
    #expect(driver.take() == [Self.start])
  }

  /// The driver leaves, and the end of the service overtakes the status.
  @Test(arguments: [0, 99, 101]) func statusRightBehindTheEnd(milliseconds: Int) {
    let driver = AppDriver.streaming()
    driver.control(.endService, .video)
    #expect(driver.session.status.video.grant == nil)
    driver.wait(.milliseconds(milliseconds))
    driver.status(.none, .notStreamable)
    let lines = driver.take()
    #expect(
      lines.filter { $0.contains("stopped") } == [milliseconds < 100 ? "• stopped hmi-status" : "• stopped head-unit"])
    // What the driver has brought about is no early end, and no reason to wait.
    driver.status(.full, .streamable)
    #expect(driver.take().last == Self.start)
  }

  @Test func endedEarlyInWords() {
    let once = VideoStartFailure.endedEarly(after: .milliseconds(50))
    #expect(once.description.contains("ends it again at once"), "\(once)")
    for (time, text) in [(8100, "8.1 s;"), (1988, "2 s;")] {
      let later = VideoStartFailure.endedEarly(after: .milliseconds(time))
      #expect(later.description.contains("ends it again after \(text)"), "\(later)")
    }
  }
}
