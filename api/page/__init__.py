"""The page: what people look at in a browser; `routers` names its parts."""
