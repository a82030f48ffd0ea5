import SDLApp
import Testing

/// What becomes of the presses of buttons.
@Suite struct ButtonKeyTests {
  private static func tell(_ driver: AppDriver, _ button: ButtonName, _ signals: ButtonNotification.Signal...) {
    for signal in signals {
      let notification = ButtonNotification(button, signal)
      driver.notify(notification.function, notification.json)
    }
  }

  /// Down and up are the key; the press that they make is told alone.
  @Test func shortPress() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .down, .up, .shortPress)
    #expect(
      driver.take() == [
        "• button OK down", "• keys +OK", "• button OK up", "• keys −OK", "• button OK shortPress",
      ])
    driver.wait(.seconds(20))
    #expect(driver.take() == [])
  }

  /// A key that is held is repeated after 500 ms, and then every 100 ms.
  @Test func longPress() {
    let driver = ButtonSubscriptionTests.subscribed([.navPanUp])
    Self.tell(driver, .navPanUp, .down)
    _ = driver.take()
    driver.wait(milliseconds: 499)
    #expect(driver.take() == [])
    driver.wait(milliseconds: 1)
    #expect(driver.take() == ["• keys +NAV_PAN_UP"])
    driver.wait(milliseconds: 99)
    #expect(driver.take() == [])
    driver.wait(milliseconds: 101)
    #expect(driver.take() == ["• keys +NAV_PAN_UP", "• keys +NAV_PAN_UP"])
    Self.tell(driver, .navPanUp, .up, .longPress)
    #expect(driver.take() == ["• button NAV_PAN_UP up", "• keys −NAV_PAN_UP", "• button NAV_PAN_UP longPress"])
    driver.wait(.seconds(20))
    #expect(driver.take() == [])
  }

  /// Of some buttons only the press is told.
  @Test func withoutDownAndUp() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .shortPress)
    #expect(driver.take() == ["• button OK shortPress", "• keys +OK −OK"])
    Self.tell(driver, .ok, .longPress)
    #expect(driver.take() == ["• button OK longPress", "• keys +OK +OK −OK"])
  }

  @Test func releaseWithoutPress() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .up)
    #expect(driver.take() == ["• button OK up"])
  }

  @Test func lostRelease() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .down)
    _ = driver.take()
    Self.tell(driver, .ok, .down)
    #expect(driver.take() == ["• button OK down", "• keys −OK +OK"])
    driver.wait(.seconds(60))
    // The last repeat before the end is that of 9.9 s.
    let repeats = [String](repeating: "• keys +OK", count: 95)
    #expect(driver.take() == repeats + ["• keys −OK"])
    Self.tell(driver, .ok, .up)
    #expect(driver.take() == ["• button OK up"])
  }

  @Test func severalAtOnce() {
    let driver = ButtonSubscriptionTests.subscribed([.navPanUp, .navPanLeft])
    Self.tell(driver, .navPanUp, .down)
    Self.tell(driver, .navPanLeft, .down)
    _ = driver.take()
    driver.wait(milliseconds: 500)
    #expect(driver.take() == ["• keys +NAV_PAN_UP +NAV_PAN_LEFT"])
    Self.tell(driver, .navPanUp, .up)
    #expect(driver.take() == ["• button NAV_PAN_UP up", "• keys −NAV_PAN_UP"])
    driver.wait(milliseconds: 100)
    #expect(driver.take() == ["• keys +NAV_PAN_LEFT"])
  }

  /// The head unit may not tell the release any more.
  @Test func changeOfLevel() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .down)
    _ = driver.take()
    driver.status(.limited, .streamable)
    #expect(driver.take() == ["• keys −OK", "• status LIMITED STREAMABLE"])
    driver.wait(.seconds(20))
    #expect(driver.take() == [])
  }

  @Test func keysNotWantedAnyMore() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .down)
    _ = driver.take()
    driver.setButtonsWanted(false)
    #expect(driver.take() == ["• keys −OK", "→ UnsubscribeButton request"])
    Self.tell(driver, .ok, .up)
    #expect(driver.take() == [])
  }

  @Test func endOfTheSession() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .ok, .down)
    _ = driver.take()
    driver.lose()
    #expect(driver.take().prefix(2) == ["• keys −OK", "• failed"])
  }

  @Test func buttonsOfOthers() {
    let driver = ButtonSubscriptionTests.subscribed([.ok])
    Self.tell(driver, .search, .down, .up, .shortPress)
    driver.notify(.onButtonEvent, ["buttonName": .string("CUSTOM_BUTTON"), "buttonEventMode": .string("BUTTONDOWN")])
    driver.notify(.onButtonEvent, [:])
    #expect(driver.take() == [])
  }
}
