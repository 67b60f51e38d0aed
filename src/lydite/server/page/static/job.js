// The page of a job without a run: another state is another page, and when there is a run, this is its page.
import { watch } from "./live.js";

const place = document.querySelector("[data-becomes]");
const again = () => location.replace(location.pathname);
watch(`run:${place.dataset.becomes}`, ["run"], (event) => { if (event.data.state !== "deleted") again(); });
watch(`job:${place.dataset.job}`, ["status"], (event) => { if (event.data.status !== place.dataset.status) again(); });
