import SDLMessages

/// The object that `text` is.
func json(_ text: String) throws -> JSONObject {
  try JSONObject(parsing: Array(text.utf8))
}
