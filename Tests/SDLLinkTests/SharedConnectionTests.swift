import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

extension LinkTests {
  /// Several apps of a phone on one connection, each in a session of its own.
  @Suite struct SharedConnectionTests {
    /// Two registered apps.
    private func pair() throws -> Phone {
      let phone = try Phone()
      for (id, name) in [(1, "First"), (2, "Second")] as [(UInt8, String)] {
        #expect(phone.start()?.id == id)
        #expect(phone.register(name, name, session: id) == "SUCCESS")
      }
      return phone
    }

    private func unregistrations(of phone: Phone) -> [UInt8] {
      var ids: [UInt8] = []
      _ = phone.headUnit.hasReported { event in
        if case .session(let id, .appUnregistered) = event { ids.append(id) }
        return false
      }
      return ids
    }

    /// Each session has its own id, hash and registration; names are taken as on two connections.
    @Test func secondSession() throws {
      let phone = try Phone()
      for (id, hash) in [(1, 0x0001_0001), (2, 0x0002_0001), (3, 0x0003_0001)] as [(UInt8, Int32)] {
        let session = try #require(phone.start())
        #expect(session.id == id && session.hash == hash)
      }
      #expect(phone.register("First", "first", session: 1) == "SUCCESS")
      #expect(phone.request(.listFiles, [:], session: 2) == "APPLICATION_NOT_REGISTERED")
      #expect(phone.register("Second", "second", session: 2) == "SUCCESS")
      // A refused registration ends its session, and no other. The next start takes its place.
      #expect(phone.register("first", "third", session: 3) == "DUPLICATE_NAME")
      #expect(phone.waitForControl(.endService, .rpc, session: 3))
      #expect(phone.request(.listFiles, [:], session: 1) == "SUCCESS")
      #expect(phone.start()?.id == 3)
      #expect(phone.register("Third", "third", session: 3) == "SUCCESS")
      #expect(phone.headUnit.connectionIDs == [1, 2, 3] && phone.headUnit.protocolViolations == [])
      phone.stop()
      // The end of the connection is that of all.
      #expect(unregistrations(of: phone) == [1, 2, 3])
    }

    @Test func endOfOneLeavesTheOther() throws {
      let phone = try pair()
      let end = EndServiceRequest(hashID: 0x0001_0001)
      phone.send(.endService, .rpc, session: 1, payload: end.bytes(version: 5))
      #expect(phone.waitForControl(.endServiceACK, .rpc, session: 1))
      #expect(phone.request(.listFiles, [:], session: 2) == "SUCCESS")
      #expect(unregistrations(of: phone) == [1])
      phone.stop()
    }

    /// The connection is closed with the last session.
    @Test func unregistrationOfOneLeavesTheOther() throws {
      let phone = try pair()
      phone.server.control(.app(1)) { $0.unregisterApp(.appUnauthorized, now: $1) }
      #expect(phone.waitForControl(.endService, .rpc, session: 1))
      #expect(phone.request(.listFiles, [:], session: 2) == "SUCCESS" && !phone.isClosed)
      phone.server.control(.app(2)) { $0.unregisterApp(.appUnauthorized, now: $1) }
      #expect(phone.waitForClose())
      phone.stop()
    }

    /// One screen, as for apps on two connections.
    @Test func videoOfBoth() throws {
      let phone = try pair()
      let parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
      for id in [1, 2] as [UInt8] {
        phone.server.perform(.activate(id))
        #expect(eventually { phone.headUnit.statuses(of: id).last?.level == .full })
        phone.send(.startService, .video, session: id, payload: parameters.bytes(version: 5))
        #expect(phone.waitForControl(.startServiceACK, .video, session: id))
      }
      #expect(phone.headUnit.statuses(of: 1).last?.level == .background)
      // There is one video service at a time.
      #expect(phone.waitForControl(.endService, .video, session: 1))
      let reason = phone.headUnit.waitFor { event in
        if case .session(1, .videoStopped(let reason)) = event { reason } else { nil }
      }
      #expect(reason == .otherAppStarted)
      phone.stop()
    }

    /// What is set before there is an app is for the first one, and for no other.
    @Test func answerInAdvance() throws {
      let phone = try Phone()
      phone.server.perform(.answerOnce(.reject(["width"])))
      for (id, name) in [(1, "First"), (2, "Second")] as [(UInt8, String)] {
        #expect(phone.start()?.id == id)
        #expect(phone.register(name, name, session: id) == "SUCCESS")
        phone.server.perform(.activate(id))
        #expect(eventually { phone.headUnit.statuses(of: id).last?.level == .full })
        phone.send(
          .startService, .video, session: id, payload: VideoServiceParameters(width: 800, height: 480).bytes(version: 5)
        )
        let answer = phone.waitFor { frame in
          frame.header.service == .video && frame.header.sessionID == id ? frame.header.controlFrame : nil
        }
        #expect(answer == (id == 1 ? .startServiceNAK : .startServiceACK))
      }
      phone.stop()
    }

    /// An alert of one is in front of the other.
    @Test func alertInFrontOfTheOther() throws {
      let phone = try pair()
      phone.server.perform(.activate(1))
      let status = HMIStatus(level: .limited, videoStreamingState: .notStreamable)
      phone.server.control(.app(2)) { $0.setHMIStatus(status, now: $1) }
      #expect(eventually { phone.headUnit.statuses(of: 2).last?.level == .limited })
      let button: JSONObject = ["softButtonID": .integer(7), "type": .string("TEXT"), "text": .string("Yes")]
      let buttons = JSONValue.array([.object(button)])
      phone.send(.alert, ["alertText1": .string("Text"), "softButtons": buttons], session: 2)
      let obscured = phone.headUnit.waitFor { event in
        if case .session(1, .systemContextSent(let status)) = event { status.systemContext } else { nil }
      }
      #expect(obscured == .obscured)
      #expect(phone.request(.alert, ["alertText1": .string("Text")], session: 1) == "REJECTED")
      // The driver presses what is in front of the screen, not what is on it.
      phone.server.perform(.driverInput(.softButton(7)))
      let context = phone.headUnit.waitFor { event -> SystemContext? in
        if case .session(1, .systemContextSent(let status)) = event, status.systemContext == .main {
          return status.systemContext
        }
        return nil
      }
      #expect(context == .main)
      phone.stop()
    }

    @Test func violationsAreOfTheirSession() throws {
      let phone = try pair()
      phone.send(.endService, .video, session: 2)
      #expect(phone.waitForControl(.endServiceNAK, .video, session: 2))
      // A session that was never started is reported by the first.
      phone.send(.endService, .video, session: 7)
      #expect(eventually { phone.headUnit.protocolViolations.count == 2 })
      #expect(phone.headUnit.protocolViolations == [.endOfServiceNotRunning(.video), .sessionID(expected: 1, got: 7)])
      #expect(phone.headUnit.violatingIDs == [2, 1])
      phone.stop()
    }

    @Test func boundedNumberOfSessions() throws {
      let phone = try Phone()
      let most = HeadUnitServer.Admission().maximumSessionCount
      let ids = (1...most).map { _ in phone.start()?.id }
      #expect(ids == (1...most).map(UInt8.init))
      #expect(phone.start()?.id == nil)
      #expect(phone.register("First", "first", session: 1) == "SUCCESS")
      #expect(phone.headUnit.protocolViolations == [])
      phone.stop()
    }

    /// Too much of what can't be read closes the transport, and so ends all of its sessions.
    @Test func malformedFramesEndAll() throws {
      let phone = try pair()
      // Message id 0, which SDL Core refuses; more often than it tolerates in a second.
      let malformed: [UInt8] = [0x51, 0x07, 0x00, 0x02, 0, 0, 0, 2, 0, 0, 0, 0, 1, 2]
      for _ in 0..<20 { phone.send(malformed) }
      #expect(phone.waitForClose())
      phone.stop()
      #expect(Set(unregistrations(of: phone)) == [1, 2])
      #expect(Set(phone.headUnit.violatingIDs) == [2])
    }
  }
}
