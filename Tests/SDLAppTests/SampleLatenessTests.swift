import SDLMessages
import Testing

@testable import SDLApp

/// Which samples come too late.
@Suite struct SampleLatenessTests {
  /// Lead, lateness in milliseconds, whether it is silence, and how many of 1600 samples are left out.
  private static let table: [(Int, Int, Bool, Int)] = [
    (200, -5, false, 0), (200, 0, false, 0), (200, 199, false, 0), (200, 201, false, 1600), (50, 60, false, 960),
    (0, 39, false, 0), (0, 41, false, 656), (200, 39, true, 0), (200, 60, true, 960), (200, 5000, true, 1600),
  ]

  @Test func leavesOutWhatIsLate() {
    for (lead, late, isSilence, expected) in Self.table {
      var lateness = SampleLateness(lead: .milliseconds(lead))
      let excess = lateness.excess(
        of: 1600, late: .milliseconds(late), isSilence: isSilence, format: PCMFormat())
      #expect(excess == expected, "\(lead) \(late) \(isSilence)")
    }
  }

  /// Once behind, it catches up to the present, rather than to the limit.
  @Test func catchesUp() {
    var lateness = SampleLateness(lead: .milliseconds(200))
    var late = 250
    var dropped = 0
    while true {
      let excess = lateness.excess(of: 1600, late: .milliseconds(late), isSilence: false, format: PCMFormat())
      guard excess > 0 else { break }
      dropped += excess
      late -= excess / 16
    }
    #expect(dropped == 4000 && late == 0)
    #expect(lateness.excess(of: 1600, late: .milliseconds(150), isSilence: false, format: PCMFormat()) == 0)
  }

  /// A timer that is a little late leaves nothing out behind a pause that was too long.
  @Test func timerThatIsLate() {
    var lateness = SampleLateness(lead: .milliseconds(50))
    #expect(lateness.excess(of: 1600, late: .milliseconds(300), isSilence: true, format: PCMFormat()) == 1600)
    #expect(lateness.excess(of: 1600, late: .microseconds(200), isSilence: false, format: PCMFormat()) == 0)
    #expect(lateness.excess(of: 1600, late: .milliseconds(300), isSilence: true, format: PCMFormat()) == 1600)
    #expect(lateness.excess(of: 1600, late: .milliseconds(3), isSilence: false, format: PCMFormat()) == 48)
  }
}
