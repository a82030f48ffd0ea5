import SDLApp
import SDLHeadUnit
import Testing

/// App and head unit joined: the audio service beside the video's.
@Suite struct JoinedAudioTests {
  private static func speaking(
    seed: UInt64, _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> JoinedSessions {
    let sessions = JoinedSessions.streaming(JoinedSessions.configuration(.standard, change), seed: seed)
    sessions.setAudioRequest(AudioStartRequest())
    return sessions
  }

  @Test(arguments: JoinedSessions.seeds) func startsBesideVideo(seed: UInt64) {
    let sessions = Self.speaking(seed: seed)
    #expect(
      sessions.take() == [
        "→ StartService audio", "← StartServiceACK audio", "• audio started 16000 Hz, 16 bit epoch 2",
      ])
    #expect(sessions.app.status.video.grant != nil && sessions.violations == [])
  }

  /// The driver leaves and comes back: both services end, and start again.
  @Test(arguments: JoinedSessions.seeds) func leavesAndReturns(seed: UInt64) {
    let sessions = Self.speaking(seed: seed)
    sessions.headUnitDoes { session, now in
      session.setHMIStatus(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable), now: now)
    }
    #expect(sessions.app.status.audio.grant == nil && sessions.app.status.video.grant == nil)
    sessions.headUnitDoes { $0.activateApp(now: $1) }
    #expect(sessions.app.status.audio.state == .streaming && sessions.app.status.video.state == .streaming)
    #expect(sessions.violations == [])
  }

  /// A head unit that acknowledges sound and ends it at once is asked again and again, more and more seldom.
  @Test func acknowledgedAndEnded() {
    let sessions = Self.speaking(seed: 1) { $0.behaviour.audioStart = .acknowledgeAndEnd }
    sessions.wait(.seconds(100))
    let starts = sessions.take().filter { $0 == "→ StartService audio" }
    // After 0, 2, 6, 14 and 30 s, then every 30 s.
    #expect(starts.count == 7)
    #expect(sessions.app.status.video.state == .streaming && sessions.violations == [])
  }
}
