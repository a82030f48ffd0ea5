import SDLMessages
import Testing

@testable import SDLHeadUnit
@testable import SDLHeadUnitLink

/// What a head unit keeps of apps whose connections have broken.
@Suite struct SavedAppsTests {
  private func app(_ id: String, hash: String? = nil) -> SavedApp {
    SavedApp(
      id: id, hash: hash, hasIcon: true, status: HMIStatus(level: .full, videoStreamingState: .streamable),
      menu: AppMenu(), subscribedButtons: [], subscribedVehicleData: [])
  }

  private func texts(_ apps: SavedApps, on device: String) -> [String] {
    apps.apps(on: device).map { $0.id + ($0.hash ?? "") }
  }

  /// An app is known by its id, on its own phone.
  @Test func ofItsPhone() {
    var apps = SavedApps()
    apps.keep(app("1", hash: "a"), on: "A")
    apps.keep(app("2", hash: "b"), on: "A")
    apps.keep(app("1", hash: "c"), on: "B")
    apps.keep(app("1", hash: "d"), on: "A")
    #expect(texts(apps, on: "A") == ["2b", "1d"] && texts(apps, on: "B") == ["1c"] && texts(apps, on: "C") == [])
  }

  /// The last eight, of all phones.
  @Test func theOldestIsForgotten() {
    var apps = SavedApps()
    apps.keep(app("first"), on: "A")
    for number in 1...7 { apps.keep(app("\(number)"), on: "B") }
    #expect(texts(apps, on: "A") == ["first"])
    apps.keep(app("8"), on: "B")
    #expect(texts(apps, on: "A") == [] && texts(apps, on: "B") == (1...8).map { "\($0)" })
  }
}
