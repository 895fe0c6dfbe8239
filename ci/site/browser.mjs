// The browser of the page's own tests, for the scripts of the site.

export { launch } from "../../host-analyzer/views/page/tools/browser.mjs";
