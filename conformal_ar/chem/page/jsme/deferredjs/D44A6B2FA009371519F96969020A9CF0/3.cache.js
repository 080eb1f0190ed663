$wnd.jsme.runAsyncCallback3('x(728,619,sn);_.be=function(){this.a.n&&v2(this.a.n);this.a.n=new A2(0,this.a)};T(SZ)(3);\n//@ sourceURL=3.js\n')
