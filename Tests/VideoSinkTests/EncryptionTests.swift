import CGStreamerApp
import Foundation
import GStreamerKit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Encrypted video between `sdlvideosink` and `sdlheadunitsrc`, and what the properties refuse.
@Suite struct EncryptionTests {
  private static let asking =
    "app-id=\(TestCertificates.appID) encryption=authenticate-and-encrypt"

  private static func app(_ certificates: TestCertificates = .desk) -> String {
    "\(asking) certificate=\(certificates.app) private-key=\(certificates.appKey)"
  }

  private static let screen = "screen-size=320x240"
  private static var headUnit: String {
    "\(screen) encryption=require ca-certificates=\(TestCertificates.desk.authority)"
  }

  private func sink(_ uri: String, _ properties: String) throws -> Pipeline {
    try Pipeline("videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(uri) \(properties)")
  }

  /// Each end checks the other.
  @Test func encrypted() throws {
    let desk = TestCertificates.desk
    let headUnit = try HeadUnitPipeline(
      "\(Self.headUnit) certificate=\(desk.headUnit) private-key=\(desk.headUnitKey)")
    let pipeline = try sink(headUnit.uri, "\(Self.app()) ca-certificates=\(desk.authority)")
    try pipeline.play()
    let samples = try headUnit.pull(20)
    #expect(try decode(samples.map(\.bytes), width: 320, height: 240).count == 20)
    let state = try #require(try pipeline.sink.structure("encryption-state"))
    #expect(state["video-encrypted"] == "true" && state["protocol"] == "TLSv1.2", "\(state)")
    #expect(state["peer-verified"] == "true" && state["peer-subject"] == "CN=Head unit of the desk", "\(state)")
    #expect(
      Set(state.keys) == [
        "video-encrypted", "audio-encrypted", "rpc-encrypted", "protocol", "cipher", "peer-verified", "peer-subject",
        "peer-issuer", "peer-not-before", "peer-not-after",
      ])
    // Of an authority, and valid for a while: the texts of times are in the order of the times.
    let (begin, end) = (try #require(state["peer-not-before"]), try #require(state["peer-not-after"]))
    #expect(state["peer-issuer"] != state["peer-subject"] && begin < end, "\(state)")
    #expect(headUnit.source["violations"]?.contains("rule") != true)
    #expect(try pipeline.sink.statistics.areFramesConserved)
  }

  /// RPCs are encrypted where the head unit asks for it; without encryption the app says so.
  @Test func encryptedRPCs() throws {
    let headUnit = try HeadUnitPipeline("\(Self.headUnit) rpc-encryption=true")
    let pipeline = try sink(headUnit.uri, Self.app())
    try pipeline.play()
    _ = try headUnit.pull(3)
    let state = try #require(try pipeline.sink.structure("encryption-state"))
    #expect(state["rpc-encrypted"] == "true" && state["video-encrypted"] == "true", "\(state)")
    pipeline.stop()
    let clear = try sink(headUnit.uri, "app-id=\(TestCertificates.appID)")
    try clear.play()
    let warning = try clear.waitForWarning().text
    #expect(warning.contains("requires encrypted RPCs") && warning.contains("property encryption"), "\(warning)")
  }

  /// A head unit that can't is an error, also if the media are in clear.
  @Test func requiredRPCs() throws {
    let headUnit = try HeadUnitPipeline(Self.screen)
    let pipeline = try sink(headUnit.uri, "\(Self.app()) encryption=none rpc-encryption=require")
    pipeline.setState(GST_STATE_PLAYING)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED), "\(error)")
    #expect(error.text.contains("rpc-encryption=require demands"), "\(error)")
  }

  /// A head unit that requires a certificate of its authority gets no video from other apps.
  @Test func foreignAppIsKeptOut() throws {
    let headUnit = try HeadUnitPipeline(Self.headUnit)
    let clear = try sink(headUnit.uri, "app-id=\(TestCertificates.appID)")
    try clear.play()
    let refusal = try clear.waitForWarning().text
    #expect(refusal.contains("has to be protected"), "\(refusal)")
    clear.stop()
    let foreign = try sink(headUnit.uri, Self.app(.foreign))
    try foreign.play()
    let text = try foreign.waitForWarning().text
    #expect(text.contains("unable to get local issuer"), "\(text)")
    #expect(headUnit.statistics["frames-in"] == 0)
  }

  /// An answer in clear is an error that names the cause, or a warning.
  @Test func answerInClear() throws {
    let headUnit = try HeadUnitPipeline(Self.screen)
    let required = try sink(headUnit.uri, Self.app())
    try required.play()
    let error = try required.waitForError().text
    #expect(error.contains("does not encrypt the video") && error.contains("without a TLS handshake"), "\(error)")
    required.stop()
    let preferred = try sink(headUnit.uri, "\(Self.app()) encryption-policy=prefer")
    try preferred.play()
    let warning = try preferred.waitForWarning().text
    #expect(warning.contains("not encrypted"), "\(warning)")
    _ = try headUnit.pull(3)
  }

  /// What can't be used is an error on the way to READY.
  @Test func unusableCertificates() throws {
    let desk = TestCertificates.desk
    let cases: [(String, String)] = [
      (Self.asking, "needs the app's certificate"),
      ("app-id=\(TestCertificates.appID) rpc-encryption=require", "needs the app's certificate"),
      ("\(Self.asking) certificate=\(desk.app) private-key=\(desk.headUnitKey)", "does not belong to"),
      ("\(Self.asking) certificate=\(desk.app)", "holds no private key"),
      (Self.app(.expired), "has expired on 2021-01-01"),
      (Self.app(.early), "not valid before 2100-01-01"),
      (Self.app(.otherApp), "the serialNumber of its subject is \"another-app\""),
      ("\(Self.app()) ca-certificates=\(desk.appKey)", "holds no authority"),
      ("uri=sdl+wss-listen://127.0.0.1:2021", "sdl+wss-listen needs a certificate"),
    ]
    for (properties, text) in cases {
      let pipeline = try sink("sdl+builtin:default", properties)
      #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
      let error = try pipeline.waitForError().text
      #expect(error.contains(text), "\(properties): \(error)")
    }
  }

  /// Neither a passphrase nor a key shows up in what can be read.
  @Test func secretsStaySecret() throws {
    let path = TestCertificates.temporaryPath("key.pem")
    let secret = "a-very-secret-word"
    TestCertificates.run([
      "openssl", "pkey", "-in", TestCertificates.desk.appKey, "-aes256", "-passout", "pass:\(secret)", "-out", path,
    ])
    let element = try Element("sdlvideosink")
    element.set("private-key-passphrase", secret)
    let key = try String(contentsOfFile: TestCertificates.desk.appKey, encoding: .utf8)
    element.set("private-key", key)
    #expect(element["private-key"] == "(PEM text)")
    var settings = AppSettings()
    settings.tls.passphrase.text = secret
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!dumped.contains(secret) && !"\(settings)".contains(secret))

    let properties = "\(Self.asking) certificate=\(TestCertificates.desk.app) private-key=\(path)"
    let wrong = try sink("sdl+builtin:default", "\(properties) private-key-passphrase=x\(secret)")
    #expect(wrong.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    let error = try wrong.waitForError().text
    #expect(error.contains("passphrase does not open") && !error.contains(secret), "\(error)")
    let right = try sink("sdl+builtin:default", "\(properties) private-key-passphrase=\(secret)")
    #expect(right.setState(GST_STATE_READY) != GST_STATE_CHANGE_FAILURE)
  }
}
