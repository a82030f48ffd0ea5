import SDLMessages
import Testing

@testable import SDLApp

/// What is sent in front of samples, and which are left out, so that a head unit plays them in time.
@Suite struct SamplePlayoutTests {
  private let format = PCMFormat()

  /// A head unit that plays what comes, and an app with a lead of 200 ms that sends pieces of 20 ms.
  private struct Stream {
    var playout = SamplePlayout(lead: .milliseconds(200))
    let format = PCMFormat()
    /// When the head unit has played everything; long ago at first.
    var end = Duration.seconds(-10)
    var silence = 0
    var leftOut = 0
    /// How much later than in its time each piece was heard, in milliseconds.
    var lateness: [Double] = []

    /// Sends the piece that is to be heard at `due`.
    mutating func send(due: Duration, now: Duration, count: Int = 320) {
      var count = count
      var due = due
      while count > 0 {
        switch playout.correction(for: count, due: due, now: now, isSilence: false, format: format) {
        case .none:
          lateness.append((max(end, now) - due) / .milliseconds(1))
          play(count, now: now)
          return
        case .silence(let missing):
          silence += missing
          play(missing, now: now)
        case .leaveOut(let excess):
          leftOut += excess
          count -= excess
          due += format.duration(ofSampleCount: excess)
          playout.skipped(isAll: count == 0)
        }
      }
    }

    private mutating func play(_ count: Int, now: Duration) {
      end = max(end, now) + format.duration(ofSampleCount: count)
      playout.sent(count, now: now, format: format)
    }

    /// What is played from `start` on for so many pieces, each of which leaves `early` before its time.
    mutating func play(_ pieces: Int, from start: Duration, early: Duration) {
      for index in 0..<pieces {
        let due = start + .milliseconds(20 * index)
        send(due: due, now: due - early)
      }
    }
  }

  /// In milliseconds: until its time, when it is the first; how much of 1600 samples is left out, and the silence in
  /// front.
  private static let first: [(early: Int, SamplePlayout.Correction)] = [
    (200, .silence(3200)), (50, .silence(800)), (3, .silence(48)), (2, .none), (0, .none), (-20, .none),
    (-21, .leaveOut(336)), (-99, .leaveOut(1584)), (-500, .leaveOut(1600)), (5000, .silence(3200)),
  ]

  @Test func theFirstSamples() {
    for (early, expected) in Self.first {
      let playout = SamplePlayout(lead: .milliseconds(200))
      let correction = playout.correction(
        for: 1600, due: .seconds(9), now: .seconds(9) - .milliseconds(early), isSilence: false, format: format)
      #expect(correction == expected, "\(early) ms early")
    }
  }

  /// Silence fills the lead once, and everything is heard in time.
  @Test func theLeadIsFilled() {
    var stream = Stream()
    stream.play(50, from: .seconds(5), early: .milliseconds(200))
    #expect(stream.silence == 3200 && stream.lateness.allSatisfy { $0 == 0 })
  }

  /// A file begins at its time, and what follows leaves at once until the lead is there.
  @Test func aBurstMakesTheLead() {
    var stream = Stream()
    for index in 0..<50 {
      let due = Duration.milliseconds(20 * index)
      stream.send(due: due, now: max(due - .milliseconds(200), .zero))
    }
    #expect(stream.silence == 0 && stream.lateness.allSatisfy { $0 == 0 })
  }

  /// A thread that is late by less than the lead is not heard; one that is later costs what it is late by, once.
  @Test(arguments: [(150, 0), (199, 0), (215, 0), (260, 960), (1000, 16_000 - 3200)])
  func aLateThread(delay: Int, leftOut: Int) {
    var stream = Stream()
    stream.play(50, from: .zero, early: .milliseconds(200))
    for index in 50..<200 {
      let due = Duration.milliseconds(20 * index)
      stream.send(due: due, now: max(due - .milliseconds(200), .milliseconds(20 * 50 - 200 + delay)))
    }
    #expect(stream.lateness.allSatisfy { abs($0) <= 20 }, "\(stream.lateness.max() ?? 0) ms")
    #expect(stream.leftOut == leftOut && stream.silence == 3200)
  }

  /// What the head unit played in a pause is made up for by silence after it: the picture goes on where it stopped.
  @Test(arguments: [50, 200, 3000])
  func aPause(milliseconds: Int) {
    var stream = Stream()
    stream.play(50, from: .zero, early: .milliseconds(200))
    let resumed = Duration.seconds(1) + .milliseconds(milliseconds)
    stream.play(50, from: resumed, early: .milliseconds(200))
    #expect(stream.silence == 3200 + 16 * min(milliseconds, 200) && stream.lateness.allSatisfy { $0 == 0 })
  }

  /// A service that has begun anew has nothing to play.
  @Test func aNewService() {
    var playout = SamplePlayout(lead: .milliseconds(200))
    playout.sent(3200, now: .seconds(1), format: format)
    let due = Duration.milliseconds(1200)
    #expect(playout.correction(for: 320, due: due, now: .seconds(1), isSilence: false, format: format) == .none)
    playout.reset()
    #expect(
      playout.correction(for: 320, due: due, now: .seconds(1), isSilence: false, format: format) == .silence(3200))
  }

  /// Silence is not missed, so it makes up for a little; and once late, samples are left out up to the present.
  @Test func makingUp() {
    var playout = SamplePlayout(lead: .zero)
    func correction(late milliseconds: Int, isSilence: Bool) -> SamplePlayout.Correction {
      playout.correction(
        for: 1600, due: .seconds(1), now: .milliseconds(1000 + milliseconds), isSilence: isSilence, format: format)
    }
    #expect(correction(late: 15, isSilence: true) == .leaveOut(240))
    #expect(correction(late: 2, isSilence: true) == .none && correction(late: 15, isSilence: false) == .none)
    playout.skipped(isAll: true)
    #expect(correction(late: 15, isSilence: false) == .leaveOut(240))
    #expect(correction(late: 2, isSilence: false) == .none)
  }

  /// The pipeline's clock changes to one that began later.
  @Test func anotherClock() {
    var playout = SamplePlayout(lead: .milliseconds(200))
    playout.sent(3200, now: .seconds(5000), format: format)
    #expect(playout.correction(for: 320, due: .seconds(3), now: .seconds(3), isSilence: false, format: format) == .none)
  }

  /// A head unit has at most a second more to play than the lead, or else the clock has changed.
  @Test(arguments: [(19_200, SamplePlayout.Correction.leaveOut(320)), (19_216, .none)])
  func farAhead(count: Int, expected: SamplePlayout.Correction) {
    var playout = SamplePlayout(lead: .milliseconds(200))
    playout.sent(count, now: .seconds(10), format: format)
    let correction = playout.correction(
      for: 320, due: .seconds(10), now: .seconds(10), isSilence: false, format: format)
    #expect(correction == expected)
  }
}
