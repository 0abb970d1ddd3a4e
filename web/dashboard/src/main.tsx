import './theme';
import './style/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/frame.css';
import './style/pages.css';
import './style/overview.css';
import './style/mail.css';
import './style/settings.css';
import { render } from 'preact';
import { App } from './app';

const page = document.getElementById('page');
if (!page) throw new Error('index.html has no element for the page');
render(<App />, page);
