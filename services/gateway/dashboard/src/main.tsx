import './theme';
import './style/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/frame.css';
import './style/pages.css';
import { render } from 'preact';
import { App } from './app';

render(<App />, document.getElementById('page')!);
