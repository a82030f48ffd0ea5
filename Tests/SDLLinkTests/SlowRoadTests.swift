import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnitLink
@testable import SDLLink

extension LinkTests {
  /// The command `shape`, on real sockets. Only what takes long enough is measured, since a busy machine may be slow.
  @Suite struct SlowRoadTests {
    private func command(_ text: String, to phone: Phone) throws {
      phone.server.perform(try #require(try HeadUnitCommand.parse(text)))
    }

    private func time<Result>(of body: () throws -> Result) rethrows -> (Duration, Result) {
      let start = MonotonicClock.now
      let result = try body()
      return (MonotonicClock.now - start, result)
    }

    /// There and back, on connections that exist and that come later.
    @Test func delay() throws {
      let phone = try Phone()
      try command("shape delay=60ms", to: phone)
      let (first, session) = time { phone.start() }
      #expect(session?.id == 1 && first >= .milliseconds(120))
      let other = try PhoneConnection(port: try #require(phone.server.port))
      let (second, otherSession) = time { other.start() }
      #expect(otherSession?.id == 2 && second >= .milliseconds(120))
      // What was on its way is not lost.
      phone.send(.addCommand, ["cmdID": .integer(1)], session: 1)
      try command("shape off", to: phone)
      #expect(phone.register("Map", "map", session: 1) == "SUCCESS")
      phone.stop()
    }

    @Test(arguments: [("up", "200kbit"), ("down", "10kbit")]) func rate(direction: String, rate: String) throws {
      let phone = try Phone()
      #expect(phone.start()?.id == 1)
      #expect(phone.register("Map", "map", session: 1) == "SUCCESS")
      try command("shape \(direction)=\(rate)", to: phone)
      if direction == "up" {
        let text = JSONValue.string(String(repeating: "x", count: 25_000))
        let (time, result) = time { phone.request(.show, ["mainField1": text], session: 1) }
        #expect(result != nil && time >= .seconds(1))
      } else {
        // Each answer has 50 bytes and more.
        let time = time {
          for number in 0..<30 { phone.send(.show, ["mainField1": .integer(number)], session: 1) }
          #expect(phone.request(.unregisterAppInterface, [:], session: 1) == "SUCCESS")
        }.0
        #expect(time >= .seconds(1))
      }
      phone.stop()
    }

    /// The app has said goodbye, and the head unit hears that before it notices the end.
    @Test func endComesAfterTheBytes() throws {
      let phone = try Phone()
      #expect(phone.start()?.id == 1)
      #expect(phone.register("Map", "map", session: 1) == "SUCCESS")
      try command("shape delay=150ms", to: phone)
      // The head unit has the command when it has answered.
      #expect(phone.request(.show, ["mainField1": .string("Hello")], session: 1) != nil)
      let elapsed = time {
        phone.send(.unregisterAppInterface, [:], session: 1)
        phone.close()
        let reason = phone.headUnit.waitFor { event -> HeadUnitSession.UnregistrationReason? in
          if case .session(1, .appUnregistered(let reason)) = event { reason } else { nil }
        }
        #expect(reason == .requestedByApp)
        #expect(phone.headUnit.waitFor { if case .disconnected(1, _, _) = $0 { true } else { nil } } == true)
      }.0
      #expect(elapsed >= .milliseconds(150))
      phone.stop()
    }

    /// The last frame is written before the head unit closes the connection, though it takes longer than usual.
    @Test func lastFrame() throws {
      let (phone, _) = try Phone.withOffer()
      try command("answer register-secondary nak", to: phone)
      try command("shape delay=1.1s", to: phone)
      let connection = try PhoneConnection(port: try #require(phone.server.secondaryPort))
      connection.registerSecondary(session: 1)
      #expect(connection.waitForControl(.registerSecondaryTransportNAK, .control, session: 1))
      #expect(connection.waitForClose())
      phone.stop()
    }

    @Test func secondTransport() throws {
      let (phone, _) = try Phone.withOffer()
      let secondary = try phone.registeredSecondary()
      try command("shape delay=50ms", to: phone)
      #expect(time { secondary.startVideo() }.0 >= .milliseconds(100))
      secondary.sendVideo(testVideo)
      #expect(phone.headUnit.waitForMessages(1))
      // It is given up, with video on the road, for another: what comes there is later.
      secondary.sendVideo(testVideo + [4])
      secondary.close()
      let other = try phone.registeredSecondary()
      other.startVideo()
      #expect(phone.headUnit.videoMessages.last == testVideo + [4])
      phone.stop()
    }

    /// Nothing passes meanwhile, which is no pause of the app.
    @Test func stallIsNoPause() throws {
      let clock = ManualClock()
      let pair = try StreamingPair(clock: clock)
      func send() {
        let picture: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x20, 0x26, 0x80, 0x25, 0xB0]
        #expect(
          pair.connection.video.submit(TestPayload(picture), grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      }
      /// Twice, since the time's deadlines come after the operations that come with it.
      func settle() {
        for level in [HMILevel.limited, .full] {
          pair.server.perform(.level(level, .streamable))
          #expect(eventually { pair.headUnit.statuses(of: 1).last?.level == level })
        }
      }
      let shape = try #require(try LinkShape.parse(["loss-stall=3s/6.1s"]))
      pair.server.perform(.behave(.videoDataTimeout(nil)))
      pair.server.perform(.shape(shape))
      settle()
      let stall = StallSchedule(try #require(shape.stalls), since: clock.now).stall
      clock.advance(by: stall.lowerBound - clock.now - .milliseconds(10))
      pair.server.perform(.behave(.videoDataTimeout(.seconds(1))))
      settle()
      send()
      #expect(pair.headUnit.waitForMessages(1))
      clock.advance(by: .milliseconds(10))
      settle()
      send()
      // In steps that are no standstill of the machine.
      for _ in 0..<8 {
        clock.advance(by: .milliseconds(200))
        settle()
      }
      #expect(pair.headUnit.videoMessages.count == 1)
      clock.advance(by: stall.upperBound - clock.now)
      #expect(pair.headUnit.waitForMessages(2))
      #expect(!pair.headUnit.hasReported { if case .session(1, .videoDataStopped) = $0 { true } else { false } })
      pair.stop()
    }
  }
}
