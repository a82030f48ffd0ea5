import SDLApp
import Testing

/// What the head unit's policy lets the app do.
@Suite struct PermissionTests {
  @Test func status() {
    let driver = AppDriver.ready()
    #expect(driver.session.status.permissions == nil)
    driver.notify(
      .onPermissionsChange,
      OnPermissionsChange(
        allowedLevels: [
          "OnTouchEvent": [.limited, .full], "SendHapticData": [.full], "SubscribeButton": [.full],
          "OnButtonPress": [.background, .full], "Alert": [.full],
        ]
      ).json)
    let permissions = driver.session.status.permissions
    #expect(permissions?.touchLevels == [.full, .limited])
    #expect(permissions?.hapticLevels == [.full])
    #expect(permissions?.buttonLevels == [.full, .background])
    #expect(permissions?.allow(.onTouchEvent, at: .limited) == true)
    #expect(permissions?.allow(.onTouchEvent, at: .background) == false)
    #expect(permissions?.allow(.onTouchEvent, at: nil) == false)
    // Each names all that is allowed.
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["SendHapticData": [.full]]).json)
    #expect(driver.session.status.permissions?.touchLevels == [])
    #expect(driver.session.status.permissions?.buttonLevels == [])
  }

  /// A head unit that does not let the app ask is taken for one without a video capability, as one that refuses to say
  /// is.
  @Test func capabilityIsNotAskedFor() {
    let driver = AppDriver.registering()
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["OnTouchEvent": [.full]]).json)
    driver.acceptRegistration()
    #expect(driver.take() == ["• registered", "• no capability, display 640×360"])
  }
}
