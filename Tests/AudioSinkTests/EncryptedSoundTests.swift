import GStreamerKit
import SDLHeadUnit
import TLSEngine
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Encrypted sound of real elements, over OpenSSL.
@Suite struct EncryptedSoundTests {
  private static let desk = TestCertificates.desk
  private static let app =
    """
    app-id=\(TestCertificates.appID) encryption=authenticate-and-encrypt certificate=\(desk.app) \
    private-key=\(desk.appKey)
    """

  private func headUnit(_ security: HeadUnitSecurity, takesLevel: Bool = true) throws -> TestHeadUnit {
    var configuration = HeadUnitConfiguration.small()
    configuration.security = security
    configuration.behaviour.dropsToNoneAfterRefusal = takesLevel
    var sources = TLSCredentials.Sources()
    sources.authorities = .file(Self.desk.authority)
    return try TestHeadUnit(
      configuration, tls: TLSContext(role: .client, variant: .tls, credentials: TLSCredentials(sources)))
  }

  private func sound(_ headUnit: TestHeadUnit, _ properties: String) throws -> Pipeline {
    try Pipeline(
      "audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sink uri=\(headUnit.uri) \(properties)")
  }

  private func isEncrypted(_ element: Element, _ field: String) -> Bool {
    eventually { element.structure("encryption-state")?[field] == "true" }
  }

  @Test func soundAlone() throws {
    let headUnit = try headUnit(.require)
    let pipeline = try sound(headUnit, Self.app)
    try pipeline.play()
    try headUnit.waitForSound(6400)
    #expect(try isEncrypted(pipeline.sink, "audio-encrypted"))
    #expect(headUnit.record.violations == [])
  }

  /// One app, whose encryption the element has set that registers it.
  @Test func besidePictures() throws {
    let headUnit = try headUnit(.require)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri) \(Self.app) \
      audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sound uri=\(headUnit.uri) \(Self.app)
      """)
    try pipeline.play()
    try headUnit.waitForFrames(5)
    try headUnit.waitForSound(6400)
    for element in [try pipeline.sink, try pipeline["sound"]] {
      #expect(isEncrypted(element, "audio-encrypted") && isEncrypted(element, "video-encrypted"))
    }
    #expect(headUnit.record.registrations.count == 1 && headUnit.record.violations == [])
  }

  /// Each in turn: whatever registers the app, the other one says the same, or what is to be done.
  @Test(arguments: [true, false]) func onOneSinkOnly(isSound: Bool) throws {
    let headUnit = try headUnit(.accept)
    let clear = "app-id=\(TestCertificates.appID)"
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) \
      ! sdlvideosink name=sink uri=\(headUnit.uri) \(isSound ? clear : Self.app) \
      audiotestsrc is-live=true samplesperbuffer=320 \
      ! sdlaudiosink name=sound uri=\(headUnit.uri) \(isSound ? Self.app : clear)
      """)
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS), "\(error)")
    #expect(error.text.contains("differ in encryption, certificate, private-key: set the same on both"), "\(error)")
  }

  /// Both are refused in clear: nothing is said to go on. The first refusal leaves the level, so that the other service
  /// is asked for as well.
  @Test func bothRefusedInClear() throws {
    let headUnit = try headUnit(.require, takesLevel: false)
    let clear = "app-id=\(TestCertificates.appID) uri=\(headUnit.uri)"
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink \(clear) \
      audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sound \(clear)
      """)
    try pipeline.play()
    var warnings: [String] = []
    while !["start video", "start audio"].allSatisfy({ name in warnings.contains { $0.contains(name) } }) {
      warnings.append(try pipeline.waitForWarning().text)
    }
    #expect(!warnings.contains { $0.contains("Video continues") }, "\(warnings)")
  }

  /// An answer in clear is an error that names the cause, or a warning and sound in clear.
  @Test func answerInClear() throws {
    let headUnit = try headUnit(.refuse)
    let required = try sound(headUnit, Self.app)
    try required.play()
    let error = try required.waitForError().text
    #expect(error.contains("does not encrypt the sound") && error.contains("without a TLS handshake"), "\(error)")
    #expect(headUnit.record.audio.isEmpty)
    required.stop()
    let preferred = try sound(headUnit, "\(Self.app) encryption-policy=prefer")
    try preferred.play()
    let warning = try preferred.waitForWarning().text
    #expect(warning.contains("The sound is not encrypted"), "\(warning)")
    try headUnit.waitForSound(3200)
  }

  /// A head unit that protects its services takes no sound in clear, which is an error where sound is all there is.
  @Test func refusedInClear() throws {
    let headUnit = try headUnit(.require)
    let pipeline = try sound(headUnit, "app-id=\(TestCertificates.appID)")
    try pipeline.play()
    let error = try pipeline.waitForError().text
    #expect(error.contains("has to be protected") && error.contains("property encryption"), "\(error)")
    #expect(headUnit.record.audio.isEmpty)
  }
}
