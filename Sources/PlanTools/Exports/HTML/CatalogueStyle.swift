/// The page's style sheet: paper and ink by day and by night, on a phone and on paper.
enum CatalogueStyle {
    /// Of `text`, as the page's policy names it; a test says what it must be.
    static let digest = "sha256-CkCp8dGsSLms3noKB8NBR8c3BXG4Rxvu+xS9gSG6GB0="

    static let text = #"""
        :root {
          --paper: #fdfcf8; --ink: #24282b; --quiet: #5f666b; --rule: #e3ded2; --tint: #f4f1e8; --accent: #0b5c66;
          --warning: #7a4306; --warning-tint: #fdf3e0; --found: #fbe7a1;
          --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, "DejaVu Serif", serif;
          --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
          --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #17191b; --ink: #e4e1d9; --quiet: #a2a8ac; --rule: #33373b; --tint: #212427; --accent: #82c7cf;
            --warning: #efc27c; --warning-tint: #2d2415; --found: #5c4a12;
          }
        }
        * { box-sizing: border-box; }
        html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body {
          margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans);
          overflow-wrap: anywhere;
        }
        [hidden] { display: none !important; }
        a { color: var(--accent); text-underline-offset: .2em; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 2px; }
        main:focus { outline: none; }
        code, pre, kbd { font-family: var(--mono); font-size: .875em; }
        code, b { unicode-bidi: isolate; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 1; }

        header, .columns, footer { max-width: 78rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 3rem); }
        header { padding-top: clamp(1.5rem, 5vw, 3.5rem); }
        .title { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.25rem; }
        h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; text-wrap: balance; }
        h1 { font-size: clamp(1.9rem, 5vw, 2.75rem); margin: 0; letter-spacing: -.01em; }
        .status { color: var(--quiet); margin: .25rem 0; }

        .finder { display: flex; flex-wrap: wrap; gap: .75rem 1rem; margin-top: 1.5rem; }
        html:not(.js) .finder, html:not(.js) .copy { display: none; }
        .field { margin: 0; position: relative; min-width: 9rem; flex: 1 1 9rem; }
        .field.words { flex: 4 1 18rem; }
        .field label { display: block; font-size: .8125rem; color: var(--quiet); margin-bottom: .2rem; }
        input, select, button { font: inherit; color: inherit; }
        input, select {
          width: 100%; height: 2.75rem; padding: 0 .75rem; background: var(--paper); border: 1px solid var(--quiet);
          border-radius: .4rem;
        }
        input::placeholder { color: var(--quiet); opacity: 1; }
        .field kbd {
          position: absolute; right: .7rem; bottom: .68rem; padding: 0 .45rem; border: 1px solid var(--rule);
          border-radius: .25rem; color: var(--quiet); background: var(--tint);
        }
        .field input:focus ~ kbd, .field input:not(:placeholder-shown) ~ kbd { display: none; }

        .columns { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 0 clamp(2rem, 5vw, 4.5rem); }
        nav { margin-top: 2.75rem; font-size: .9375rem; line-height: 1.4; }
        nav details {
          position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto; overscroll-behavior: contain;
        }
        nav summary {
          font-size: .8125rem; color: var(--quiet); cursor: pointer; padding: .25rem 0; margin-bottom: .25rem;
        }
        nav ul { list-style: none; margin: 0; padding: 0; }
        nav li li { padding: .2rem 0 .2rem .9rem; border-left: 1px solid var(--rule); }
        nav a { color: inherit; text-decoration: none; }
        nav a:hover { color: var(--accent); text-decoration: underline; }
        nav .chapter { display: block; font-family: var(--serif); font-weight: 600; margin: .9rem 0 .3rem; }
        nav details > ul > li:first-child .chapter { margin-top: .25rem; }
        small { font-size: .8125em; color: var(--warning); font-style: italic; }

        section.chapter { padding-top: 2.5rem; }
        h2 { font-size: 1.125rem; color: var(--quiet); font-weight: 400; font-style: italic; margin: 0 0 1.25rem; }
        article { border-top: 1px solid var(--rule); padding: 1.75rem 0 2.5rem; }
        .head { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; }
        .copy { flex: none; }
        h3 { font-size: 1.625rem; margin: 0; }
        h3 a { color: inherit; text-decoration: none; }
        h3 a:hover { text-decoration: underline; }
        article:target h3 { color: var(--accent); }
        button {
          border: 1px solid var(--rule); border-radius: .4rem; background: none; padding: .2rem .6rem; cursor: pointer;
          font-size: .8125rem; color: var(--quiet);
        }
        button:hover { border-color: var(--accent); color: var(--accent); }
        .lead { font-family: var(--serif); font-size: 1.125rem; margin: .6rem 0 1rem; max-width: 42rem; }
        .lead, .meaning p, .deprecated { white-space: pre-line; unicode-bidi: plaintext; }
        .deprecated {
          color: var(--warning); background: var(--warning-tint); border-left: 3px solid var(--warning);
          padding: .45rem .75rem; margin: .6rem 0; max-width: 42rem;
        }
        dl, dd { margin: 0; }
        .facts { display: flex; flex-wrap: wrap; gap: .3rem 1.75rem; font-size: .9375rem; }
        .facts > div { display: flex; gap: .5rem; max-width: 100%; }
        .facts dt { color: var(--quiet); white-space: nowrap; }
        .facts dd { min-width: 0; }
        .tracker:not(:last-child)::after { content: ","; }
        h4 { font-size: .8125rem; font-weight: 400; color: var(--quiet); margin: 1.5rem 0 .4rem; }
        .none { color: var(--quiet); }

        .properties { list-style: none; margin: 0; padding: 0; }
        .properties > li {
          display: grid; grid-template-columns: minmax(11rem, 17rem) minmax(0, 1fr); gap: .15rem 1.75rem;
          padding: .7rem 0; border-top: 1px solid var(--rule);
        }
        .depth-1 .name { padding-left: 1rem; }
        .depth-2 .name { padding-left: 2rem; }
        .depth-3 .name { padding-left: 3rem; }
        .depth-4 .name { padding-left: 4rem; }
        .parent { color: var(--quiet); }
        .name code { font-size: .9375rem; }
        .kind { margin: .1rem 0 0; font-size: .875rem; color: var(--quiet); }
        .kind em { font-style: normal; color: var(--ink); }
        .meaning p { margin: 0 0 .35rem; }
        .meaning .deprecated { margin: 0 0 .5rem; }
        .meaning .facts { gap: .25rem 1.5rem; }
        .meaning dd code {
          display: inline-block; max-width: 100%;
          background: var(--tint); border-radius: .25rem; padding: .1rem .35rem; white-space: pre-wrap;
        }

        .example { margin-top: 1.25rem; }
        .example summary { cursor: pointer; color: var(--accent); font-size: .9375rem; }
        pre {
          margin: .6rem 0 0; padding: 1rem 1.15rem; background: var(--tint); border-radius: .4rem; line-height: 1.5;
          white-space: pre-wrap;
        }
        .nothing { padding: 3rem 0; color: var(--quiet); }
        footer { padding-top: 1rem; padding-bottom: 3rem; color: var(--quiet); font-size: .875rem; }

        @media (max-width: 60rem) {
          .columns { display: block; }
          nav { margin-top: 1.5rem; border-bottom: 1px solid var(--rule); padding-bottom: .75rem; }
          nav details { position: static; max-height: none; }
          nav li li { padding: .4rem 0 .4rem .9rem; }
        }
        @media (max-width: 40rem) {
          .properties > li { grid-template-columns: minmax(0, 1fr); padding: .9rem 0; }
          .depth-1 { padding-left: .75rem !important; }
          .depth-2 { padding-left: 1.5rem !important; }
          .depth-3, .depth-4 { padding-left: 2.25rem !important; }
          .properties .name { padding-left: 0; }
          .field kbd { display: none; }
          button { padding: .45rem .75rem; }
        }
        ::highlight(found) { background: var(--found); color: var(--ink); }
        @media print {
          :root {
            --paper: #fff; --ink: #000; --quiet: #444; --rule: #bbb; --tint: #f3f3f3; --accent: #000; --warning: #000;
            --warning-tint: #fff;
          }
          @page { margin: 13mm 15mm; }
          html { font-size: 9pt; }
          h1 { font-size: 20pt; }
          html .finder, html .copy, .skip, .example summary, nav summary { display: none; }
          header, .columns, footer { max-width: none; padding-left: 0; padding-right: 0; }
          .columns { display: block; }
          nav { margin-top: 1rem; columns: 3; }
          nav li li { padding: .1rem 0 .1rem .9rem; }
          nav details { position: static; max-height: none; overflow: visible; }
          nav details > ul > li, article, .properties > li, pre { break-inside: avoid; }
          h2, .head, h4 { break-after: avoid; }
          article { padding: .75rem 0 1rem; }
          section.chapter { padding-top: 1rem; }
          pre { padding: .5rem .75rem; border: 1px solid var(--rule); font-size: 7pt; line-height: 1.3; }
          .example { margin-top: .6rem; }
          .properties > li { grid-template-columns: 36% minmax(0, 1fr); padding: .3rem 0; line-height: 1.4; }
          footer { display: none; }
        }
        """#
}
