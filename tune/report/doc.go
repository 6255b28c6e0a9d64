// Package report shows records to people: one HTML page that needs nothing else, single
// plots as PNG or SVG, and a table in Markdown.
//
// [New] makes a [Report] of records, and everything is drawn from that. A Report says
// nothing that the records do not hold: where a figure is derived, its documentation says how, and
// where it cannot be derived, it is left out. What is doubtful about a run (no verification,
// the host's clock, a best that could be noise) is among its notices.
//
// The page is the files of asset/page, put together without a build step, and Apache ECharts,
// of asset/echarts. Names and reasons come from specifications, drivers and compilers: they
// are data. They stand in a block of JSON that no parser of HTML or script looks into, reach the page
// as text only, and the page's Content-Security-Policy runs no script but its own and
// lets no request out.
package report
