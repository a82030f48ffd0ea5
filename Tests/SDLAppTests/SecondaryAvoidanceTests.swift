import Testing

@testable import SDLApp

/// A service that may run on both transports, and that the head unit does not start on the secondary one.
@Suite struct SecondaryAvoidanceTests {
  private static let start = "StartService video 800×480 RAW H264"

  /// The head unit may answer on the other transport.
  @Test func unansweredStart() {
    let driver = AppDriver.registeredSecondary()
    _ = driver.take()
    driver.wait(.seconds(5))
    #expect(driver.take().first == "• start of 800×480 failed [], again after 2.0 seconds")
    #expect(driver.session.secondaryTransport.state == .waiting)
    driver.wait(.seconds(2))
    #expect(driver.take().contains("→ \(Self.start)"))
  }

  /// A head unit that registers the secondary transport, but does not start video there, gets it on the primary one,
  /// and after a while, or with a new address, it is asked again.
  @Test(arguments: [false, true]) func secondaryOfNoUse(isMoved: Bool) {
    let driver = AppDriver.registeredSecondary()
    driver.wait(.seconds(6))
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: .secondary)
    _ = driver.take()
    driver.wait(.seconds(1))
    #expect(driver.take().contains("→ \(Self.start)"))
    driver.acknowledgeVideo()
    #expect(driver.session.status.video.grant?.role == .primary)
    driver.wait(.seconds(20))
    #expect(driver.session.status.video.grant?.role == .primary)
    _ = driver.take()
    if isMoved {
      driver.updateTransport("192.0.2.2", 54321)
      driver.connectSecondary()
      driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: .secondary)
      driver.wait(.seconds(1))
    } else {
      driver.wait(.seconds(10))
    }
    #expect(driver.take().contains("→ EndService video"))
  }

  /// Earlier failures were at another address, for either service.
  @Test(arguments: [ServiceType.video, .audio]) func anotherAddress(service: ServiceType) {
    let driver = AppDriver.registeredSecondary(
      video: [2, 1], audio: [2, 1], request: service == .video ? AppDriver.videoRequest : nil)
    if service == .audio { driver.setAudioRequest(AudioStartRequest()) }
    driver.wait(.seconds(5))
    #expect(driver.session.secondaryTransport.state == .waiting)
    // At once, although the pause after the failure is not over.
    driver.updateTransport("192.0.2.2", 54321)
    driver.connectSecondary()
    driver.control(.registerSecondaryTransportACK, .control, messageID: 2, on: .secondary)
    _ = driver.take()
    driver.wait(.seconds(2))
    #expect(driver.take().contains { $0.hasPrefix("⇒ StartService \(service)") })
  }

  /// Only refusals in a row count: a start that succeeded, or was not answered, is between them.
  @Test(arguments: [true, false]) func refusalsBeginAnew(hasStarted: Bool) {
    var avoidance = SecondaryAvoidance()
    for _ in 0..<2 { avoidance.refused(now: .zero) }
    if hasStarted { avoidance.started() } else { avoidance.unanswered(now: .zero) }
    let later = Duration.seconds(1000)
    for _ in 0..<2 { avoidance.refused(now: later) }
    #expect(!avoidance.isActive(now: later))
    avoidance.refused(now: later)
    #expect(avoidance.isActive(now: later))
  }

  /// The same for one that keeps refusing it there. A single refusal may be about a service that has just moved.
  @Test func refusedOnTheSecondary() {
    let driver = AppDriver.registeredSecondary()
    for pause in [2, 4] {
      driver.control(.startServiceNAK, .video, on: .secondary)
      _ = driver.take()
      driver.wait(.seconds(pause))
      #expect(driver.take().contains("⇒ \(Self.start)"))
    }
    driver.control(.startServiceNAK, .video, on: .secondary)
    driver.wait(.seconds(8))
    #expect(driver.take().contains("→ \(Self.start)"))
  }

  /// The pauses double, up to ten minutes.
  @Test func pauses() {
    var avoidance = SecondaryAvoidance()
    var now = Duration.zero
    var pauses: [Duration] = []
    for _ in 0..<7 {
      avoidance.unanswered(now: now)
      let end = avoidance.nextDeadline(now: now) ?? now
      pauses.append(end - now)
      now = end
    }
    #expect(pauses == [30, 60, 120, 240, 480, 600, 600].map { .seconds($0) })
    #expect(!avoidance.isActive(now: now) && avoidance.nextDeadline(now: now) == nil)
  }

  /// A wait is told when it has lasted half a second, its cause and its end at once.
  @Test func announcedWaits() {
    var announcement = WaitAnnouncement()
    announcement.update(.noTransport, now: .seconds(1))
    #expect(announcement.reported == nil && announcement.nextDeadline == .milliseconds(1500))
    announcement.update(.noTransport, now: .milliseconds(1499))
    #expect(announcement.reported == nil && announcement.nextDeadline == .milliseconds(1500))
    announcement.update(.noTransport, now: .milliseconds(1500))
    #expect(announcement.reported == .noTransport && announcement.nextDeadline == nil)
    announcement.update(.secondaryTransport, now: .milliseconds(1501))
    #expect(announcement.reported == .secondaryTransport && announcement.nextDeadline == nil)
    announcement.update(nil, now: .milliseconds(1502))
    #expect(announcement.reported == nil && announcement.nextDeadline == nil)
    // One that ends before is not told, and the next one begins anew.
    announcement.update(.noTransport, now: .seconds(2))
    announcement.update(nil, now: .milliseconds(2400))
    #expect(announcement.reported == nil && announcement.nextDeadline == nil)
    announcement.update(.noTransport, now: .milliseconds(2500))
    #expect(announcement.reported == nil && announcement.nextDeadline == .seconds(3))
  }
}
