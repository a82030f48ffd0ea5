import SDLMessages

/// Parses `text`.
func json(_ text: String) throws -> JSONObject {
  try JSONObject(parsing: Array(text.utf8))
}
