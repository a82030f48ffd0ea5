import SDLApp
import SDLMessages
import Synchronization
import TestSupport
import Testing

/// Handshakes for starts that are not the app's own: on a second connection, anybody may start a service in its name.
@Suite struct UnrequestedHandshakeTests {
  private static let clientHello = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1])

  /// An app that is registered and in FULL, and counts its ends of TLS.
  private func registered(
    _ count: Channels, encryption: MediaEncryption = .authenticateAndEncrypt, policy: EncryptionPolicy = .require
  ) -> AppDriver {
    var configuration = AppDriver.configuration
    configuration.encryption = encryption
    configuration.encryptionPolicy = policy
    let driver = AppDriver(configuration) { count.make() }
    driver.connect()
    driver.acknowledgeSession()
    driver.acceptRegistration()
    driver.answerCapability()
    driver.status(.full, .streamable)
    _ = driver.take()
    return driver
  }

  /// The end of TLS, with its certificate, is not even made. The head unit gets an error, so that it does not wait.
  private func expectRefusal(_ driver: AppDriver, _ channels: Channels, _ count: Int) {
    let query = SecurityQuery(type: 0, queryID: 1, sequenceNumber: 1, binary: [22, 3, 3, 0, 1, 1])
    let made = channels.count
    _ = driver.take()
    for number in 0..<count {
      driver.receiveSecurity(query.bytes, messageID: UInt32(1000 + number))
    }
    #expect(channels.count == made && driver.sentQueries.count == count)
    #expect(driver.sentQueries.allSatisfy { $0.error.code == .invalidData })
    #expect(driver.take().allSatisfy { $0 == "• diagnostic" || $0 == "→ single control" })
    #expect(driver.failure == nil)
  }

  /// Nor do many of them use up what the app needs for its own.
  @Test func beforeAnyStart() {
    let channels = Channels()
    let driver = registered(channels)
    expectRefusal(driver, channels, 200)
    driver.setVideoRequest(AppDriver.videoRequest)
    driver.shakeHands()
    driver.acknowledgeEncrypted(.video)
    #expect(driver.session.status.video.grant?.isEncrypted == true && channels.count == 1)
  }

  /// The app has no start that is unanswered: its video was refused, runs in clear, or has ended.
  @Test func afterAStart() {
    let channels = Channels()
    let refused = registered(channels)
    refused.setVideoRequest(AppDriver.videoRequest)
    refused.refuseVideo()
    expectRefusal(refused, channels, 3)
    let clear = registered(channels, policy: .prefer)
    clear.setVideoRequest(AppDriver.videoRequest)
    clear.acknowledgeVideo()
    #expect(clear.isStreaming)
    expectRefusal(clear, channels, 3)
    #expect(clear.isStreaming)
    let ended = registered(channels)
    ended.setVideoRequest(AppDriver.videoRequest)
    ended.shakeHands()
    ended.acknowledgeEncrypted(.video)
    ended.setVideoRequest(nil)
    ended.control(.endServiceACK, .video)
    expectRefusal(ended, channels, 3)
    #expect(ended.session.secureChannel != nil)
  }

  /// What a stranger's handshake was refused for is no reason of the app's own failure.
  @Test func leavesNoTrace() {
    let channels = Channels()
    let driver = registered(channels)
    expectRefusal(driver, channels, 1)
    driver.notify(.onPermissionsChange, ["requireEncryption": .bool(true)])
    driver.control(.startServiceNAK, .rpc)
    guard case .rpcsNotEncrypted(let reason, _) = driver.failure else {
      Issue.record("\(String(describing: driver.failure))")
      return
    }
    #expect(reason == "the head unit refused it")
  }

  /// Also while the driver has not opened the app, and for an app that encrypts nothing.
  @Test func appThatDoesNotEncrypt() {
    let driver = AppDriver.ready()
    driver.receive(Self.clientHello)
    #expect(driver.sentQueries.map(\.error.code) == [.notSupported])
    let channels = Channels()
    expectRefusal(registered(channels, encryption: .none), channels, 3)
  }
}

/// Counts the ends of TLS that an app makes.
private final class Channels: Sendable {
  private let made = Mutex(0)

  var count: Int { made.withLock { $0 } }

  func make() -> FakeChannel {
    made.withLock { $0 += 1 }
    return FakeChannel(isServer: true)
  }
}
