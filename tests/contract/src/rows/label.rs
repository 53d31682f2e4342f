//! Chapter 10. A stream is bound to a model by aclmdlRIBindStream; none is, so that setting a label and jumping end at that rule.

use super::prelude::*;

pub fn rows(r: &mut Rows) {
    labels(r);
    lists(r);
    jumps(r);
}

/// A label, destroyed at the end.
struct Label(aclrtLabel);

impl Label {
    #[track_caller]
    fn new() -> Label {
        Label(get!(null_mut(), aclrtCreateLabel()))
    }
}

impl Drop for Label {
    fn drop(&mut self) {
        acl!(aclrtDestroyLabel(self.0));
    }
}

/// A list of labels, destroyed at the end.
struct List(aclrtLabelList);

impl List {
    #[track_caller]
    fn of(labels: &[&Label]) -> List {
        let mut handles: Vec<aclrtLabel> = labels.iter().map(|label| label.0).collect();
        List(get!(null_mut(), aclrtCreateLabelList(handles.as_mut_ptr(), handles.len())))
    }
}

impl Drop for List {
    fn drop(&mut self) {
        acl!(aclrtDestroyLabelList(self.0));
    }
}

/// What a call answers for everything that is no label.
#[track_caller]
fn on_no_labels(call: impl Fn(aclrtLabel) -> i32) -> Vec<i32> {
    let stale = Label::new();
    ok!(aclrtDestroyLabel(stale.0));
    [stale.0, stale_stream(), current(), invented()].map(call).to_vec()
}

fn set(label: aclrtLabel, stream: aclrtStream) -> i32 {
    acl!(aclrtSetLabel(label, stream))
}

fn labels(r: &mut Rows) {
    r.row("aclrtCreateLabel#01", |_| acl!(aclrtCreateLabel(null_mut())));
    r.row("aclrtCreateLabel#02", |_| acl!(aclrtCreateLabel(&mut null_mut()))).bare();
    r.decided("aclrtCreateLabel#03", |_| {
        let labels: Vec<Label> = (0..65535).map(|_| Label::new()).collect();
        let code = acl!(aclrtCreateLabel(&mut null_mut()));
        drop(labels);
        Label::new();
        code
    })
    .alone_device();
    r.needs("aclrtCreateLabel#04", "aclmdlRIBindStream");
    r.row("aclrtSetLabel#01", |_| set(null_mut(), Stream::new().h()));
    r.row("aclrtSetLabel#02", |_| set(Label::new().0, null_mut()));
    r.row("aclrtSetLabel#03", |_| {
        let stream = Stream::new();
        on_no_labels(|label| set(label, stream.h()))
    });
    r.row("aclrtSetLabel#04", |_| {
        let label = Label::new();
        on_no_streams(|stream| set(label.0, stream))
    });
    r.row("aclrtSetLabel#05", |_| {
        let other = Context::new(0);
        let label = other.enter(Label::new);
        let code = set(label.0, Stream::new().h());
        other.enter(|| drop(label));
        code
    });
    r.row("aclrtSetLabel#06", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        set(Label::new().0, stream.h())
    });
    r.row("aclrtSetLabel#07", |_| {
        let other = Context::new(0);
        let (label, stream) = other.enter(|| (Label::new(), Stream::new()));
        code!(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(null_mut(), stream.h()));
        code!(ACL_ERROR_RT_LABEL_CONTEXT, aclrtSetLabel(label.0, stream.h()));
        code!(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetLabel(Label::new().0, stream.h()));
        other.enter(|| drop((label, stream)));
    });
    r.row("aclrtSetLabel#08", |_| set(Label::new().0, Stream::new().h()));
    r.row("aclrtSetLabel#09", |_| set(Label::new().0, null_mut()));
    r.row("aclrtSetLabel#10", |_| {
        let (label, stream) = (Label::new(), Stream::new());
        bare(|| set(label.0, stream.h()))
    });
    r.row("aclrtDestroyLabel#01", |_| acl!(aclrtDestroyLabel(null_mut())));
    r.row("aclrtDestroyLabel#02", |_| on_no_labels(|label| acl!(aclrtDestroyLabel(label))));
    r.row("aclrtDestroyLabel#03", |_| {
        let other = Context::new(0);
        let label = other.enter(Label::new);
        let code = acl!(aclrtDestroyLabel(label.0));
        other.enter(|| drop(label));
        code
    });
    r.row("aclrtDestroyLabel#04", |_| {
        let label = Label::new();
        bare(|| acl!(aclrtDestroyLabel(label.0)))
    });
}

fn lists(r: &mut Rows) {
    let create = |labels: &mut [aclrtLabel]| {
        acl!(aclrtCreateLabelList(labels.as_mut_ptr(), labels.len(), &mut null_mut()))
    };
    r.row("aclrtCreateLabelList#01", |_| acl!(aclrtCreateLabelList(null_mut(), 1, &mut null_mut())));
    r.row("aclrtCreateLabelList#02", |_| acl!(aclrtCreateLabelList(&mut Label::new().0, 1, null_mut())));
    let lengths = move |_: &Test<'_>| {
        let label = Label::new();
        let mut most = vec![label.0; 65535];
        let list = get!(null_mut(), aclrtCreateLabelList(most.as_mut_ptr(), most.len()));
        ok!(aclrtDestroyLabelList(list));
        [create(&mut []), create(&mut vec![label.0; 65536])]
    };
    r.decided("aclrtCreateLabelList#03", lengths);
    r.row("aclrtCreateLabelList#04", lengths);
    let elements = move |_: &Test<'_>| {
        let label = Label::new();
        on_no_labels(|wrong| create(&mut [label.0, wrong]))
    };
    r.row("aclrtCreateLabelList#05", elements);
    r.decided("aclrtCreateLabelList#06", elements);
    r.row("aclrtCreateLabelList#07", move |_| {
        let label = Label::new();
        bare(|| create(&mut [label.0]))
    });
    r.row("aclrtDestroyLabelList#01", |_| acl!(aclrtDestroyLabelList(null_mut())));
    r.decided("aclrtDestroyLabelList#02", |_| {
        let list = List::of(&[&Label::new()]);
        ok!(aclrtDestroyLabelList(list.0));
        acl!(aclrtDestroyLabelList(list.0))
    });
}

/// Calls with a list of two labels, a stream, and 4 bytes of device memory.
fn switch(change: impl FnOnce(&mut (*mut c_void, u32, aclrtLabelList, aclrtStream))) -> i32 {
    let (one, two, stream, index) = (Label::new(), Label::new(), Stream::new(), device_with(&[0; 4]));
    let list = List::of(&[&one, &two]);
    let mut args = (index.p(), 2, list.0, stream.h());
    change(&mut args);
    acl!(aclrtSwitchLabelByIndex(args.0, args.1, args.2, args.3))
}

fn jumps(r: &mut Rows) {
    r.row("aclrtSwitchLabelByIndex#01", |_| switch(|args| args.0 = null_mut()));
    r.row("aclrtSwitchLabelByIndex#02", |_| switch(|args| args.2 = null_mut()));
    r.row("aclrtSwitchLabelByIndex#03", |_| switch(|args| args.3 = null_mut()));
    r.decided("aclrtSwitchLabelByIndex#04", |_| {
        let host = pageable(4);
        [switch(|args| args.0 = host.p()), switch(|args| args.0 = unmapped())]
    })
    .ep();
    r.needs("aclrtSwitchLabelByIndex#05", "aclmdlRIBindStream");
    r.decided("aclrtSwitchLabelByIndex#06", |_| [0, 1, 3].map(|max| switch(|args| args.1 = max)));
    r.needs("aclrtSwitchLabelByIndex#07", "aclmdlRIBindStream");
    r.row("aclrtSwitchLabelByIndex#08", |_| switch(|_| ()));
    r.row("aclrtSwitchLabelByIndex#09", |_| {
        let other = Context::new(0);
        let stream = other.enter(Stream::new);
        switch(|args| args.3 = stream.h())
    });
    r.row("aclrtSwitchLabelByIndex#10", |_| on_no_streams(|stream| switch(|args| args.3 = stream)));
    r.row("aclrtSwitchLabelByIndex#11", |_| switch(|args| args.3 = null_mut()));
    r.row("aclrtSwitchLabelByIndex#12", |_| {
        let (label, stream, index) = (Label::new(), Stream::new(), device_with(&[0; 4]));
        let list = List::of(&[&label]);
        bare(|| acl!(aclrtSwitchLabelByIndex(index.p(), 1, list.0, stream.h())))
    });
}
