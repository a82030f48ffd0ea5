import SDLMessages

/// Images that a request shows, and that the app has not uploaded. SDL Core carries the request out all the same.
enum MissingImages {
  /// As SDL's HMI words it; nil if all images are there.
  static func warning(of parameters: JSONObject, files: AppFiles) -> String? {
    isMissing(in: .object(parameters), files) ? "Requested image(s) not found" : nil
  }

  /// No deeper than the schemas of requests are.
  private static func isMissing(in value: JSONValue, _ files: AppFiles) -> Bool {
    switch value {
    case .array(let values): return values.contains { isMissing(in: $0, files) }
    case .object(let object):
      guard object["imageType"] == nil else {
        guard object["imageType"]?.string == "DYNAMIC", let name = object["value"]?.string else { return false }
        return !name.isEmpty && !files.contains(name)
      }
      return object.values.contains { isMissing(in: $0, files) }
    default: return false
    }
  }
}
