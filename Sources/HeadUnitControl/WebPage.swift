import HTTPServe

/// The page for browsers: files of the folder Web, which SwiftPM puts into the code.
enum WebPage {
  // Only SwiftPM makes PackageResources; without it the sources can be type-checked.
  #if SWIFT_PACKAGE
    /// By their paths; none holds a secret.
    static let answers: [String: HTTPAnswer] = [
      "/": answer(PackageResources.index_html, "text/html"),
      "/style.css": answer(PackageResources.style_css, "text/css"),
      "/icon.svg": answer(PackageResources.icon_svg, "image/svg+xml"),
      "/page.js": answer(PackageResources.page_js, "text/javascript"),
      "/main.js": answer(PackageResources.main_js, "text/javascript"),
      "/screen.js": answer(PackageResources.screen_js, "text/javascript"),
      "/template.js": answer(PackageResources.template_js, "text/javascript"),
      "/driver.js": answer(PackageResources.driver_js, "text/javascript"),
      "/conversation.js": answer(PackageResources.conversation_js, "text/javascript"),
    ]
  #else
    static let answers: [String: HTTPAnswer] = [:]
  #endif

  private static let headers = [
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
  ]

  private static func answer(_ bytes: [UInt8], _ type: String) -> HTTPAnswer {
    HTTPAnswer(200, bytes, contentType: "\(type); charset=utf-8", headers: headers)
  }
}
