import Testing

@testable import HeadUnitControl

/// The files of the page, as browsers get them. It shows what apps and their pictures say, and has the token.
@Suite struct WebPageTests {
  /// A browser runs and applies nothing that has another type.
  @Test(arguments: [
    ("/", "text/html"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"), ("/page.js", "text/javascript"),
    ("/main.js", "text/javascript"), ("/screen.js", "text/javascript"), ("/template.js", "text/javascript"),
    ("/driver.js", "text/javascript"), ("/conversation.js", "text/javascript"),
  ])
  func types(path: String, type: String) throws {
    let answer = try #require(WebPage.answers[path])
    #expect(answer.status == 200 && answer.contentType == "\(type); charset=utf-8" && !answer.body.isEmpty)
  }

  /// No script of a text, nothing from or to elsewhere but images that the page makes of bytes, and in no other page.
  @Test func policies() throws {
    #expect(WebPage.answers.count == 9)
    for (path, answer) in WebPage.answers {
      let directives = (answer.headers["Content-Security-Policy"] ?? "").split(separator: "; ")
      #expect(
        Set(directives) == [
          "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'",
          "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ], "\(path)")
      #expect(answer.headers["Cross-Origin-Opener-Policy"] == "same-origin", "\(path)")
      #expect(answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", "\(path)")
      #expect(answer.headers["Referrer-Policy"] == "no-referrer", "\(path)")
    }
  }
}
