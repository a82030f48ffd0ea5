import SDLApp
import Testing

@testable import Plugin

@Suite struct AudioSinkSettingsTests {
  /// Whether sound goes on at LIMITED depends on the registration, and a pause on the user.
  @Test(arguments: [true, false]) func negotiation(isMedia: Bool) {
    var settings = AudioSinkSettings()
    settings.suspendPolicy = isMedia ? .drop : .auto
    let negotiation = settings.negotiation(isMedia: isMedia)
    #expect(negotiation.isMedia == isMedia && negotiation.suspendPolicy == settings.suspendPolicy)
  }

  @Test func activity() {
    var settings = AudioSinkSettings()
    (settings.startsOnData, settings.idleTimeout) = (true, 1500)
    #expect(settings.activity == AudioActivity(startsOnData: true, idleTimeout: .milliseconds(1500)))
  }
}
