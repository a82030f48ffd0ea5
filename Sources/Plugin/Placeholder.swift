// Plugin
