// One execution: the parts of its page follow its events.
import { follow, replaceParts } from "./console.js";

follow(`${location.pathname}/live`, { parts: replaceParts });
