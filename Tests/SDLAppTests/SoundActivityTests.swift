import Testing

@testable import SDLApp

/// Whether sound calls for a service.
@Suite struct SoundActivityTests {
  @Test func alwaysByDefault() {
    var activity = SoundActivity()
    #expect(activity.isServiceWanted && activity.deadline == nil)
    activity.heard(at: .seconds(1))
    activity.elapse(now: .seconds(100))
    #expect(activity.isServiceWanted && activity.deadline == nil)
  }

  @Test func fromTheFirstSoundToSilence() {
    var activity = SoundActivity(startsOnData: true, idleTimeout: .seconds(2))
    #expect(!activity.isServiceWanted)
    activity.heard(at: .seconds(1))
    activity.heard(at: .seconds(3))
    #expect(activity.isServiceWanted && activity.deadline == .seconds(5))
    activity.elapse(now: .milliseconds(4999))
    #expect(activity.isServiceWanted)
    activity.elapse(now: .seconds(5))
    #expect(!activity.isServiceWanted && activity.deadline == nil)
  }

  /// What waits for its service is not silent.
  @Test func heldSound() {
    var activity = SoundActivity(startsOnData: true, idleTimeout: .seconds(2))
    activity.heard(at: .seconds(1), isHeld: true)
    activity.elapse(now: .seconds(60))
    #expect(activity.isServiceWanted && activity.deadline == nil)
    activity.heard(at: .seconds(60))
    #expect(activity.deadline == .seconds(62))
  }
}
